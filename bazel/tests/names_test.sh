#!/bin/bash
# The name of a source among cc_tests runs the program that it is compiled into: Bazel would leave
# out an alias. $1: what its query answers.
set -u
source bazel/tests/assert.sh

expect "the tests of //harness/property:compare_test" "$(cat "$1")" //harness/property:tests

finish
