#!/bin/bash
# Every BUILD and .bzl file loads the C++ and shell rules and providers that it uses. Bazel 4 has them built in and Bazel
# 9 does not, so that a missing load breaks there alone. Looks at the checkout itself, not at declared inputs: it is
# tagged to run every time. $1: the WORKSPACE file.
set -u
source bazel/tests/assert.sh

readonly SYMBOLS='cc_binary|cc_import|cc_library|cc_test|cc_shared_library|sh_binary|sh_library|sh_test|CcInfo|cc_common'

# The symbols that the file $1 uses without a load, one a line. Texts and comments are not uses.
unloaded() {
  local code symbol
  code=$(sed -E -e 's/#.*//' "$1" | awk '/"""/ { n = gsub(/"""/, ""); if (n % 2) text = !text; next } !text')
  grep -oE "(^|[^.\"_[:alnum:]])($SYMBOLS)([^\"_[:alnum:]]|\$)" <<< "$code" | grep -oE "$SYMBOLS" | sort -u | while read -r symbol; do
    grep -qE "^[[:space:]]*(load\(.*)?\"$symbol\"" <<< "$code" || echo "$symbol"
  done
}

# In both directions, on made-up files.
sample=$TEST_TMPDIR/sample
printf 'load("@rules_cc//cc:cc_test.bzl", "cc_test")\ncc_test(name = "x")\n' > "$sample"
expect "a rule that is loaded" "$(unloaded "$sample")" ""
printf 'cc_test(name = "x")\n' > "$sample"
expect "a rule that is not" "$(unloaded "$sample")" "cc_test"
printf 'load("@rules_cc//cc:cc_test.bzl", "cc_test")\nx = [dep[CcInfo] for dep in y]\nz = cc_common.f()\n' > "$sample"
expect "providers that are not" "$(unloaded "$sample" | xargs)" "CcInfo cc_common"
printf '# cc_test(\n"""text\ncc_library(\n"""\nnative.cc_binary(name = "x")\n' > "$sample"
expect "comments, texts and methods" "$(unloaded "$sample")" ""

root=$(dirname "$(readlink -f "$1")")
files=0
while read -r file; do
  [[ $file != "$root/bazel/bazel4.bzl" ]] || continue # the stand-ins themselves
  files=$((files + 1))
  expect "${file#"$root/"}: used and not loaded" "$(unloaded "$file" | xargs)" ""
done < <(find "$root" -path "$root/bazel-*" -prune -o -path "$root/.git" -prune -o -type f \( -name BUILD -o -name BUILD.bazel -o -name '*.BUILD' -o -name '*.bzl' \) -print | sort)
echo "$files files under $root"
expect "the checkout was found, with its files" "$((files >= 15))" 1
finish
