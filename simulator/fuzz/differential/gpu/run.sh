#!/bin/bash
# Runs random programs on this machine's GPU (compute capability 9.0) against ptxas -O0, -O1, -O3 and the simulated GPU: docs/reference/fuzzing.md.
#
#   run.sh [minutes=9] [seed=1] [out=out] [further options of differential_gpu]
#
# What it prints is in $out/log.txt, too. Exit status: 0 no votes differ, 1 some do (see $out), 2 no GPU or no ptxas.
set -u

minutes=9 seed=1 out=out
more=()
for argument; do
  case $argument in
    minutes=*) minutes=${argument#*=} ;;
    seed=*) seed=${argument#*=} ;;
    out=*) out=${argument#*=} ;;
    *) more+=("$argument") ;;
  esac
done
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"

ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2> /dev/null)
[[ -n $ptxas ]] || { echo "run.sh: no ptxas on the PATH or in /usr/local/cuda/bin" >&2; exit 2; }
"$ptxas" --version | tail -n 2 | tee "$out/ptxas.txt"

"$here/differential_gpu" --minutes="$minutes" --seed="$seed" --ptxas="$ptxas" --out="$out" "${more[@]+"${more[@]}"}" 2>&1 | tee "$out/log.txt"
exit "${PIPESTATUS[0]}"
