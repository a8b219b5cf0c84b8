# shellcheck shell=bash
# Sourced by ../../lockstep: counts the results of `bazel test`, from Bazel's own record of them.

# Prints the tests that Bazel planned, one label per line. $1: a build event file (JSON, one event
# per line).
planned_tests() {
  sed -nE '/"testSize":/ s/^\{"id":\{"targetConfigured":\{"label":"([^"]+)".*/\1/p' "$1" | sort -u
}

# Prints those that passed, without flaky ones, which failed before they passed.
passed_tests() {
  sed -nE '/"overallStatus":"PASSED"/ s/^\{"id":\{"testSummary":\{"label":"([^"]+)".*/\1/p' "$1" |
    sort -u
}

# Prints "N passed, N failed" as the last line. $1: the build event file; $2: Bazel's exit status. A
# planned test without a pass counts as failed: it failed, could not be built, or was aborted.
# Returns 1 if Bazel reported success although a test has not passed.
report_tests() {
  local events=$1 status=$2 planned passed failed verdict=0
  planned=$(planned_tests "$events")
  passed=$(passed_tests "$events")
  failed=$(comm -23 <(echo "$planned") <(echo "$passed") | sed '/^$/d')
  if [[ $failed && $status -eq 0 ]]; then
    say "Bazel reports success, but no pass of: $failed"
    verdict=1
  elif [[ ! $failed && $status -ne 0 && $status -ne $EXIT_NO_TESTS ]]; then
    say "Bazel failed although no test did (exit status $status, see above):" \
      "counted as one failure."
    failed="the build"
  elif [[ ! $planned ]]; then
    say "no test was selected; that proves nothing."
    verdict=$EXIT_NO_TESTS
  fi
  echo "$(count "$passed") passed, $(count "$failed") failed"
  return "$verdict"
}

# The number of lines of the text $1.
count() { echo -n "$1" | grep -c '' || true; }

# announce_first_build COMMAND: if nothing was built before, prints how long the build takes and how
# much space it needs. Measured on two processors shared with other builds: 229 s and 539 MB for the
# command with the simulated GPU; 615 s and 431 MB more for the suites.
announce_first_build() {
  [[ ! -x $1 ]] || return 0
  say "the first build compiles the simulated GPU: some 4 minutes on two processors, 0.6 GB in"\
    "Bazel's folder; the suites, for run and list, some 10 minutes and 0.5 GB more"
}
