#!/bin/bash
# Calls clang++ of version 14 or later with its runtime libraries, or prints how to get it.
set -u
for version in "" -14 -15 -16 -17 -18 -19 -20; do
  compiler=$(command -v "clang++$version") || continue
  major=$("$compiler" -dumpversion) && ((${major%%.*} >= 14)) || continue
  runtime=$(find "$("$compiler" -print-resource-dir)/" -name 'libclang_rt.fuzzer*.a' \
    -print -quit 2> /dev/null)
  [[ -n $runtime ]] || continue
  exec "$compiler" "$@"
done
cat >&2 <<'MESSAGE'
The fuzzers are built with clang 14 or later and its sanitizers, which are not part of the set-up.
On Debian 12:
    apt-get install clang-14 libclang-rt-14-dev
MESSAGE
exit 1
