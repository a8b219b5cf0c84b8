#!/bin/bash
# Runs random programs on this machine's GPU (compute capability 9.0) against ptxas -O0, -O1, -O3 and the simulated GPU: docs/fuzzing.md.
#
#   run.sh [minutes=9] [seed=1] [out=out] [further options of differential_gpu]
#
# Starts the program anew, with another seed, when a kernel has hung or ended the context, until the minutes are over; then tries each program of
# a batch that was lost in a process of its own. Exit status: 0 no votes differ, 1 some do (see $out), 2 no GPU or no ptxas.
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

# Each module's kernels at once: loading them one by one, as they are first asked for, stops the others.
export CUDA_MODULE_LOADING=EAGER

start=$SECONDS
total=$(awk -v m="$minutes" 'BEGIN { print int(60 * m) }')
status=0
for ((round = 0; ; ++round)); do
  left=$((total - (SECONDS - start)))
  ((left > 10)) || break
  "$here/differential_gpu" --minutes="$(awk -v s=$left 'BEGIN { print s / 60 }')" --seed=$((seed + 1000 * round)) --ptxas="$ptxas" --out="$out" \
    "${more[@]+"${more[@]}"}"
  ended=$?
  ((ended == 2)) && exit 2
  ((ended == 0)) || status=1
  ((ended <= 1)) && break
done 2>&1 | tee -a "$out/log.txt"
status=${PIPESTATUS[0]}
grep -q "programs in" "$out/log.txt" || exit 2

for lost in "$out"/lost-*.txt; do
  [[ -e $lost ]] || continue
  while read -r number; do
    ((SECONDS - start < total + 30)) || break
    timeout 60 "$here/differential_gpu" --replay="$number" --ptxas="$ptxas" --out="$out" > "$out/replay.log" 2>&1
    ended=$?
    ((ended == 0)) || echo "$number: exit status $ended alone" | tee -a "$out/lost-alone.txt"
  done < "$lost"
done

grep -q " differs; digests \|refuses\|a finding\|does not end" "$out/log.txt" && status=1
exit "$status"
