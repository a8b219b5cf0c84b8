#!/bin/bash
# ./lockstep counters, coverage and mutate on the suites, in a made-up checkout with stand-ins for
# Bazel and the tools: which options go to the run and which to the command, with a blank or with =.
set -u
source bazel/tests/assert.sh
checkout=$TEST_TMPDIR/checkout
tools=$TEST_TMPDIR/tools
mkdir -p "$checkout/bazel/setup" "$tools" "$checkout"/bazel-bin/{command,tests,simulator/exec}
cp -L lockstep "$checkout"
cp -L bazel/repositories.bzl "$checkout/bazel"
cp -L bazel/setup/* "$checkout/bazel/setup"
printf '#!/bin/bash\nprintf "%%s=installed\\n" "${@:3}"\n' > "$tools/dpkg-query"
printf '#!/bin/bash\n' | tee "$tools/bazel" > "$checkout/bazel-bin/command/lockstep"
printf '#!/bin/bash\necho "$*" | sed "s#$CHECKOUT/##g"\n' \
  > "$checkout/bazel-bin/simulator/exec/lockstep-exec"
printf '%s\n' $'a\ttests/a_test\t//tests:a_test' $'b\ttests/b_test\t//tests:b_test' \
  $'times\ttests/times_test\t//tests:times_test\tsilicon' > "$checkout/bazel-bin/tests/suites.tsv"
chmod +x "$tools"/* "$checkout"/bazel-bin/{command/lockstep,simulator/exec/lockstep-exec}
export HOME=$TEST_TMPDIR CUDA_PATH=/named/by/hand PATH=$tools:/usr/bin:/bin CHECKOUT=$checkout

# of WORD...: what lockstep-exec is called with, once each line.
of() { "$checkout/lockstep" "$@" 2> /dev/null; }

readonly RUN="-- bazel-bin/harness/conform/conform run --out=lockstep-out/counters"
expect "counters: what is the run's goes to the run" \
  "$(of counters --suite=a --check=races --quick)" \
  "counters --check=races --report=lockstep-out/counters/counters.json $RUN --suite=a --quick"
expect "with a blank as well" "$(of counters --suite a --check races --cases 5)" \
  "counters --check=races --report=lockstep-out/counters/counters.json $RUN --suite=a --cases=5"
expect "an option of one's own in the place of a default" "$(of counters --report mine.json)" \
  "counters --report=mine.json $RUN"
expect "a program of one's own: with the command's own tools" \
  "$(of counters --report=x -- ./program --suite a)" ""
expect_match "coverage: a blank in --only" "$(of coverage --only kernels/a --scale .5)" \
  '^coverage --only=kernels/a --check=all .* run --out=lockstep-out/coverage --scale=\.5$'
expect "mutate: every suite but those that time" "$(of mutate | sed -E 's/.* -- //')" \
  "bazel-bin/tests/a_test --fail-fast
bazel-bin/tests/b_test --fail-fast"
expect_match "those that are named" "$(of mutate --suite b --first --cases=2 --mutants 7)" \
  '^mutate --files=.* --out=lockstep-out/mutation/b --first=--cases=2 --mutants=7 '\
'-- bazel-bin/tests/b_test --fail-fast$'
expect "one that there is not" "$(of mutate --suite=c; echo $?)" 2
finish
