#!/bin/bash
# `./lockstep new`, on a copy of the folders: which names it refuses, and that it overwrites
# nothing.
set -u
source bazel/tests/assert.sh
readonly EXIT_USAGE=2
say() { echo "lockstep: $*" >&2; }
source templates/new_family.sh

tree=$TEST_TMPDIR/tree
mkdir -p "$tree"/{kernels,reference,properties,tests/known_bad,templates}
cp -rL templates/family templates/project "$tree/templates/"
cp -L kernels/families.bzl "$tree/kernels/"
chmod -R u+w "$tree"
for folder in kernels reference properties tests tests/known_bad; do touch \
  "$tree/$folder/BUILD"; done
echo 'cc_library(name = "law")' > "$tree/properties/BUILD"
echo 'cc_test(name = "protocol_test")' > "$tree/tests/BUILD"
echo 'LaunchStatus transpose(int);' > "$tree/kernels/staging.h"
echo 'struct LineCase {};' > "$tree/properties/staging.h"

# state: every file of the tree with its contents, as one word.
state() { (cd "$tree" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum); }

# refuses NAME PATTERN: with usage status, a message, and the tree as it was.
refuses() {
  local before output status
  before=$(state)
  output=$(new_family "$tree" "$1" 2>&1)
  status=$?
  expect "'$1' is refused" "$status" "$EXIT_USAGE"
  expect_match "'$1': the message" "$output" "$2"
  expect "'$1': nothing changed" "$(state)" "$before"
}

refuses "" "no name for a family"
refuses DotProduct "no name for a family"
refuses dot-product "no name for a family"
refuses 2d "no name for a family"
refuses _dot "no name for a family"
refuses dot_ "no name for a family"
refuses dot__product "no name for a family"
refuses "dot product" "no name for a family"
refuses ../dot "no name for a family"
refuses "$(printf 'a%.0s' {1..41})" "longer than 40"
refuses template "means something else"
refuses std "means something else"
refuses family_name "means something else"
refuses stencil "there is a family 'stencil' already"
refuses memory_access "there is a family 'memory_access' already"
refuses law "properties/BUILD has a target of that name"
refuses protocol "tests/BUILD has a target of that name"
refuses transpose "kernels/staging.h declares transpose"
refuses line "properties/staging.h declares line or Line"

touch "$tree/reference/dot_product.cc"
refuses dot_product "reference/dot_product.cc exists already; nothing was written"
rm "$tree/reference/dot_product.cc"

# unwritten WHAT COMMAND...: it fails, says so, and leaves the tree as it was.
unwritten() {
  local before output status
  before=$(state)
  output=$("${@:2}" 2>&1)
  status=$?
  expect "$1: status" "$status" 1
  expect_match "$1: the message" "$output" "cannot be written"
  expect_match "$1: what it means" "$output" "nothing was written"
  expect "$1: nothing changed" "$(state)" "$before"
}
limited() { (ulimit -f 1; "$@"); }
in_project() { (mkdir -p "$tree/project";
  limited new_project_family "$tree/templates" "$tree/project" dot_product); }
unwritten "no room for a file" limited new_family "$tree" dot_product
unwritten "no room for a file of a project" in_project
expect_match "templates that are missing" \
  "$(new_project_family "$tree/elsewhere" "$tree/project" dot_product 2>&1)" \
  "the installation is not whole"
expect "no folder of it either" "$(ls "$tree/project")" ""
mv "$tree/tests/known_bad" "$tree/elsewhere"
unwritten "a folder that is gone" new_family "$tree" dot_product
mv "$tree/elsewhere" "$tree/tests/known_bad"

before=$(cd "$tree" && sha256sum kernels/BUILD kernels/staging.h properties/BUILD tests/BUILD)
written=$(new_family "$tree" dot_product)
expect "a good name" $? 0
expect "every file, and the list" "$(wc -l <<< "$written")" \
  "$(($(find templates/family/ -name '*.*' ! -type d | wc -l) + 1))"
for file in kernels/dot_product.{h,cu} reference/dot_product.{h,cc} properties/dot_product.{h,cc} \
  tests/dot_product_test.cc \
  tests/known_bad/dot_product.{h,cu} tests/known_bad/dot_product_test.cc; do
  expect "$file is there" "$([[ -s $tree/$file ]] && echo yes)" yes
  expect "$file has no placeholder left" "$(grep -ciE 'family_?name' "$tree/$file")" 0
done
expect_match "its type" "$(cat "$tree/properties/dot_product.h")" "using DotProduct ="
expect "the last in the list" \
  "$(grep -A1 '"dot_product",' "$tree/kernels/families.bzl" | tail -1)" "]"
expect "the others are still in it" "$(grep -c '^    "' "$tree/kernels/families.bzl")" \
  "$(($(grep -c '^    "' kernels/families.bzl) + 1))"
expect "what was there is as it was" \
  "$(cd "$tree" && sha256sum kernels/BUILD kernels/staging.h properties/BUILD tests/BUILD)" \
  "$before"
expect_match "what to fill in" "$(what_to_fill_in "$tree" dot_product)" \
  "kernels/dot_product.cu:[0-9]+: y\[i\]\. Until then"
expect_match "the counts in a page too" "$(what_to_fill_in "$tree" dot_product)" \
  '^  docs/reference/run.md: '
expect_match "the promises too" "$(what_to_fill_in "$tree" dot_product)" \
  '^  docs/reference/promises.md: '
expect "each a whole sentence" \
  "$(what_to_fill_in "$tree" dot_product | grep '^  [a-zA-Z_/]\+\.' | grep -vc '[.?]$\|).$')" 0
refuses dot_product "there is a family 'dot_product' already"

# In a namespace of the project's own.
new_project_family "$tree/templates" "$tree/project" cube acme::solids > /dev/null
expect "nothing of it is in lockstep" \
  "$(grep -rlE 'namespace lockstep::[a-z_]+ \{' "$tree/project/cube" | wc -l)" 0
expect "all of it is in the namespace" \
  "$(grep -rlE '^namespace acme::solids::[a-z_]+ \{' "$tree/project/cube" | wc -l)" 10
expect "no namespace" "$(new_project_family "$tree/templates" "$tree/project" ball 'a b' 2>&1)" \
  "lockstep: 'a b' is no namespace: names with :: between them, as in acme::linear_algebra"
expect "one that is taken" \
  "$(new_project_family "$tree/templates" "$tree/project" ball lockstep 2>&1)" \
  "lockstep: 'lockstep' is taken: it is of the C++ library or of Lockstep"
rm -r "$tree/project/cube"
expect "nothing was written" "$(ls "$tree/project")" ""

# An installed one names the guide that was installed with it.
prefix=$TEST_TMPDIR/prefix
mkdir -p "$prefix/share/lockstep" "$prefix/share/doc/lockstep/guide" "$tree/project"
cp -r "$tree/templates" "$prefix/share/lockstep/"
touch "$prefix/share/doc/lockstep/guide/first_family.md"
output=$(new_project_family "$prefix/share/lockstep/templates" "$tree/project" dot_product)
expect_match "the installed guide" "$output" \
  "in this order \($prefix/share/doc/lockstep/guide/first_family.md\)"
expect_match "paths as the user sees them" "$output" \
  '^  dot_product/kernels/dot_product.cu:[0-9]+: y'
finish
