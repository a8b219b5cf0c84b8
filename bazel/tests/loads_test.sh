#!/bin/bash
# Every BUILD and .bzl file must load the C++ and shell rules and providers that it uses. Bazel 4
# has them built in and Bazel 9 does not, so that a missing load fails only there. Every repository
# that they name must be one of MODULE.bazel's, which Bazel 7 and later read and Bazel 4 does not.
# Reads the checkout itself, not declared inputs: it is tagged to run every time. $1: the WORKSPACE
# file.
set -u
source bazel/tests/assert.sh

readonly SYMBOLS='cc_binary|cc_import|cc_library|cc_test|cc_shared_library|'\
'sh_binary|sh_library|sh_test|CcInfo|cc_common'

# Prints the symbols that the file $1 uses without a load, one per line. Ignores strings and
# comments.
unloaded() {
  local code symbol
  code=$(sed -E -e 's/#.*//' "$1" |
    awk '/"""/ { n = gsub(/"""/, ""); if (n % 2) text = !text; next } !text')
  grep -oE "(^|[^.\"_[:alnum:]])($SYMBOLS)([^\"_[:alnum:]]|\$)" <<< "$code" | grep -oE "$SYMBOLS" |
    sort -u | while read -r symbol; do
    grep -qE "^[[:space:]]*(load\(.*)?\"$symbol\"" <<< "$code" || echo "$symbol"
  done
}

# In both directions, on artificial files.
sample=$TEST_TMPDIR/sample
printf 'load("@rules_cc//cc:cc_test.bzl", "cc_test")\ncc_test(name = "x")\n' > "$sample"
expect "a rule that is loaded" "$(unloaded "$sample")" ""
printf 'cc_test(name = "x")\n' > "$sample"
expect "a rule that is not" "$(unloaded "$sample")" "cc_test"
printf '%s\n' 'load("@rules_cc//cc:cc_test.bzl", "cc_test")' 'x = [dep[CcInfo] for dep in y]' \
  'z = cc_common.f()' > "$sample"
expect "providers that are not" "$(unloaded "$sample" | xargs)" "CcInfo cc_common"
printf '# cc_test(\n"""text\ncc_library(\n"""\nnative.cc_binary(name = "x")\n' > "$sample"
expect "comments, texts and methods" "$(unloaded "$sample")" ""

root=$(dirname "$(readlink -f "$1")")
files=0
while read -r file; do
  [[ $file != "$root/bazel/bazel4.bzl" ]] || continue  # the stand-ins themselves
  files=$((files + 1))
  expect "${file#"$root/"}: used and not loaded" "$(unloaded "$file" | xargs)" ""
done < <(find "$root" -path "$root/bazel-*" -prune -o -path "$root/.git" -prune -o -type f \( \
  -name BUILD -o -name BUILD.bazel -o -name '*.BUILD' -o -name '*.bzl' \) -print | sort)
echo "$files files under $root"

# Print the repositories that the module file $1 declares, and those that the files on stdin name in
# labels, one per line.
of_module() {
  grep -oE '^(module|bazel_dep)\($|^ *(bazel_dep\()?name = "[a-z0-9_]+"' "$1" |
    grep -oE '"[a-z0-9_]+"' | tr -d '"'
  sed -nE 's/^use_repo\([a-z_]+, (.*)\)$/\1/p' "$1" | tr -d '",' | xargs -n1
}
in_labels() { xargs grep -hoE '"@[a-z0-9_]+(//|")' | grep -oE '[a-z0-9_]+' | sort -u; }

printf '%s\n' 'module(' '    name = "own",' ')' 'bazel_dep(name = "fmt", version = "9")' \
  'use_repo(machine, "cuda", "d3")' > "$sample"
expect "names of a module file" "$(of_module "$sample" | xargs)" "own fmt cuda d3"
printf 'deps = ["@fmt", "@cuda//:headers", "//own", "a@b.de"]\n' > "$sample"
expect "names in labels" "$(echo "$sample" | in_labels | xargs)" "cuda fmt"
given=" $(of_module "$root/MODULE.bazel" | xargs) bazel_tools lockstep_installed "
named=$(find "$root" -path "$root/bazel-*" -prune -o -path "$root/.git" -prune -o -type f \( \
  -name BUILD -o -name '*.BUILD' -o -name '*.bzl' \) -print | in_labels)
for name in $named; do
  expect "MODULE.bazel gives @$name" "$([[ $given == *" $name "* ]] && echo given)" given
done
expect "repositories are named" "$(($(wc -w <<< "$named") >= 10))" 1
expect "the checkout was found, with its files" "$((files >= 15))" 1
finish
