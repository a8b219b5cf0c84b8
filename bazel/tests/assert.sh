# shellcheck shell=bash
# Sourced by the shell tests of this folder. A failed assertion is counted and printed; finish()
# ends the test.

failures=0
assertions=0

# expect WHAT ACTUAL EXPECTED
expect() {
  assertions=$((assertions + 1))
  [[ $2 == "$3" ]] && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n  expected: %s\n  actual:   %s\n' "$1" "$3" "$2"
}

# expect_match WHAT TEXT PATTERN (a regular expression)
expect_match() {
  assertions=$((assertions + 1))
  grep -qE -- "$3" <<< "$2" && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n  expected to match: %s\n  actual: %s\n' "$1" "$3" "$2"
}

finish() {
  echo "$assertions assertions, $failures failed"
  ((assertions > 0 && failures == 0)) || exit 1
  exit 0
}
