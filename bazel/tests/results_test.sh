#!/bin/bash
# The last line of `./lockstep test`, and its exit status, for records in the format of Bazel 4.2.3.
set -u
source bazel/tests/assert.sh
readonly EXIT_NO_TESTS=4
say() { echo "lockstep: $*" >&2; }
source bazel/setup/results.sh

events=$TEST_TMPDIR/events.json
# configured LABEL KIND: a target is configured; KIND is the rest of Bazel's description.
configured() {
  echo '{"id":{"targetConfigured":{"label":"'"$1"'"}},"children":[],"configured":{'"$2"'}}'
}
planned() { configured "$1" '"targetKind":"cc_test rule","testSize":"MEDIUM"'; }
library() { configured "$1" '"targetKind":"cc_library rule"'; }
ended() {
  echo '{"id":{"testSummary":{"label":"'"$1"'","configuration":{"id":"c0"}}},'\
'"testSummary":{"totalRunCount":1,"overallStatus":"'"$2"'"}}'
}

# report STATUS: prints the last line and the returned status, for the events on stdin and Bazel's
# exit status.
report() {
  local answer verdict
  cat > "$events"
  answer=$(report_tests "$events" "$1" 2> "$TEST_TMPDIR/stderr")
  verdict=$?
  echo "$(tail -1 <<< "$answer") -> $verdict"
}

expect "all passed" \
  "$({ planned //a:x; planned //a:y; library //a:z; ended //a:x PASSED; ended //a:y PASSED; } |
  report 0)" \
  "2 passed, 0 failed -> 0"
expect "one failed" \
  "$({ planned //a:x; planned //a:y; ended //a:x PASSED; ended //a:y FAILED; } | report 3)" \
  "1 passed, 1 failed -> 0"
expect "one ran out of time" "$({ planned //a:x; ended //a:x TIMEOUT; } | report 3)" \
  "0 passed, 1 failed -> 0"
expect "one passed at the second attempt" "$({ planned //a:x; ended //a:x FLAKY; } | report 0)" \
  "0 passed, 1 failed -> 1"
expect "one could not be built" \
  "$({ planned //a:x; planned //a:y; ended //a:x PASSED; } | report 1)" "1 passed, 1 failed -> 0"
expect "a test vanished and Bazel is content" \
  "$({ planned //a:x; planned //a:y; ended //a:x PASSED; } | report 0)" \
  "1 passed, 1 failed -> 1"
expect "a library could not be built" "$({ planned //a:x; ended //a:x PASSED; } | report 1)" \
  "1 passed, 1 failed -> 0"
expect_match "which is said" "$(cat "$TEST_TMPDIR/stderr")" "counted as one failure"
expect "Bazel stopped at once" "$(report 1 < /dev/null)" "0 passed, 1 failed -> 0"
expect "no test was selected" "$(library //a:z | report 4)" "0 passed, 0 failed -> 4"
expect "no test was selected and Bazel is content" "$(library //a:z | report 0)" \
  "0 passed, 0 failed -> 4"
expect_match "the first build is announced, with its time and its size" \
  "$(say() { echo "lockstep: $*"; }; announce_first_build "$TEST_TMPDIR/nothing_built")" \
  'first build .* minutes .* GB'
expect "a later one is not" \
  "$(say() { echo "lockstep: $*"; }; announce_first_build /bin/true)" ""
finish
