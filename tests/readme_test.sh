#!/bin/bash
# Compares the counts in README.md, CONTRIBUTING.md, docs/guide and docs/reference with the counted
# items. Arguments: checker_test, launchers_test, and the known-bad tests of the families.
set -u
source bazel/tests/assert.sh

# The tests of GoogleTest's suite $2 in the program $1, as "Suite.Name".
tests_of() {
  # For a test runner a test program prints only results.
  env -i "$1" --gtest_list_tests | sed 's/ *#.*//' |
    awk -v wanted="$2." '/^[^ ]/ { suite = $1 } /^ / && suite == wanted { print suite $1 }'
}

checker=$1 launchers=$2
shift 2
bad=0 good=0 families=0
for family; do
  bad=$((bad + $(tests_of "$family" KnownBad | wc -l)))
  good=$((good + $(tests_of "$family" KnownGood | wc -l)))
  families=$((families + 1))
done
mistakes=$(tests_of "$launchers" KnownBad | wc -l)
pairs=$(tests_of "$checker" Checker | sed 's|.*/||' | sort -u | wc -l)
expect "there are some of each" \
  "$((bad > 0 && good > 0 && mistakes > 0 && pairs > 0 && families > 0))" 1

mapfile -t pages < <(ls README.md CONTRIBUTING.md docs/guide/*.md docs/reference/*.md)

# A page as one line, without its fenced blocks, which quote output.
text_of() { awk '/^```/ { quoted = !quoted; next } !quoted' "$1" | tr '\n' ' '; }

# counted COUNT TIMES WORDS: every number before the words in a page must be COUNT, and at least
# TIMES pages must have one.
counted() {
  local page number found=0
  for page in "${pages[@]}"; do
    for number in $(text_of "$page" | grep -oE "[0-9]+ $3" | cut -d' ' -f1); do
      expect "$page: $3" "$number" "$1"
      found=$((found + 1))
    done
  done
  expect "pages count: $3" "$((found >= $2))" 1
}

counted "$bad" 1 'kernels with a planted mistake each'
counted "$good" 1 'negative controls'
counted "$mistakes" 1 'mistakes more are planted into the launchers'
counted "$pairs" 1 'pairs of (small )?kernels'
counted "$families" 1 '(kernel )?families'
finish
