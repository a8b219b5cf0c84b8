#!/bin/bash
# The name of a source among cc_tests runs the program into which it is compiled; `bazel test` would
# skip an alias. $1: the result of a Bazel query.
set -u
source bazel/tests/assert.sh

expect "the tests of //harness/property:compare_test" "$(cat "$1")" //harness/property:tests

finish
