#!/bin/bash
# What README.md, docs/reference/checks.md and CONTRIBUTING.md count and name, against what is registered. Arguments: checker_test, launchers_test, and the known-bad tests
# of the families.
set -u
source bazel/tests/assert.sh

# The tests of GoogleTest's suite $2 in the program $1, "Suite.Name" each.
tests_of() {
  # A test program tells a test runner nothing but results.
  env -i "$1" --gtest_list_tests | sed 's/ *#.*//' | awk -v wanted="$2." '/^[^ ]/ { suite = $1 } /^ / && suite == wanted { print suite $1 }'
}

checker=$1 launchers=$2
shift 2
bad=0 good=0
for family; do
  bad=$((bad + $(tests_of "$family" KnownBad | wc -l)))
  good=$((good + $(tests_of "$family" KnownGood | wc -l)))
done
mistakes=$(tests_of "$launchers" KnownBad | wc -l)
pairs=$(tests_of "$checker" Checker | sed 's|.*/||' | sort -u | wc -l)
expect "there are some of each" "$((bad > 0 && good > 0 && mistakes > 0 && pairs > 0))" 1

# The number that stands before the words $2 in the page $1.
number() { tr '\n' ' ' < "$1" | grep -oE "[0-9]+ $2" | cut -d' ' -f1; }

expect "kernels with a planted mistake" "$(number README.md 'kernels with a planted mistake each')" "$bad"
expect "negative controls" "$(number README.md 'negative controls')" "$good"
expect "mistakes of launchers" "$(number README.md 'mistakes more are planted into the launchers')" "$mistakes"
expect "pairs of small kernels" "$(number README.md 'pairs of small kernels')" "$pairs"
expect "and in docs/reference/checks.md" "$(number docs/reference/checks.md 'pairs of kernels')" "$pairs"

# A page that is linked is there.
while IFS=: read -r page link; do
  target=$(dirname "$page")/${link%%#*}
  expect "$page links $link" "$([[ -e $target ]] && echo there || echo missing)" there
done < <(grep -oE '\]\([^)#:]+(\.md|\.png)(#[^)]*)?\)' README.md CONTRIBUTING.md docs/reference/comparison.md docs/guide/faq.md | sed -E 's/^([^:]*):\]\((.*)\)$/\1:\2/')
finish
