#!/bin/bash
# Runs the fuzzers, as many at once as there are processors, each until it has used its minutes of
# CPU time.
#
#   bazel run //simulator/fuzz:all -- [--minutes=N] [--fuzzer=NAME] [--update-corpus]
#
# Exit status: 0 clean; 1 an input was found that a target does not survive, or memory was leaked; 2
# wrong usage.
set -u

minutes=10 only="" update=""
programs=()
for argument; do
  case $argument in
    --minutes=*) minutes=${argument#*=} ;;
    --fuzzer=*) only=${argument#*=} ;;
    --update-corpus) update=yes ;;
    -*)
      echo "usage: bazel run //simulator/fuzz:all --" \
        "[--minutes=N] [--fuzzer=fatbin|program|ptx] [--update-corpus]" >&2
      exit 2
      ;;
    *) programs+=("$argument") ;;
  esac
done
seconds=$(awk -v m="$minutes" 'BEGIN { print (m ~ /^[0-9]+(\.[0-9]+)?$/) ? int(m * 60) : 0 }')
((seconds > 0)) || { echo "--minutes=$minutes: a number above 0 is wanted" >&2; exit 2; }

readonly ROOT=${BUILD_WORKSPACE_DIRECTORY:-$PWD}
readonly OUT=$ROOT/lockstep-out/fuzz
PROCESSORS=$(nproc)
readonly PROCESSORS
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=0} \
  UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# Longer inputs are seldom better, and always slower.
options_of() {
  case $1 in
    fatbin) echo -max_len=16384 -use_value_profile=1 ;;
    program) echo -max_len=400 ;;
    ptx) echo -max_len=6000 ;;
  esac
}

# CPU seconds that process $1 has used so far.
cpu_seconds() {
  local fields
  read -r -a fields < <(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null) || return
  ((${#fields[@]} > 12)) && echo $(((fields[11] + fields[12]) / $(getconf CLK_TCK)))
}

# The value after word $2 in the last status line of log $1.
status_of() { tac "$1" 2> /dev/null | sed -nE "s/^#.*[[:space:]]$2 ([^[:space:]]+).*/\1/p;T;q"; }
executions_of() { tac "$1" 2> /dev/null | sed -nE 's/^#([0-9]+)[[:space:]].*/\1/p;T;q'; }

declare -A program_of pid_of used_of verdict_of leaked
names=()
for program in "${programs[@]}"; do
  name=$(basename "$program" _fuzzer)
  [[ -z $only || $only == "$name" ]] || continue
  names+=("$name")
  program_of[$name]=$(realpath "$program")
done
((${#names[@]} > 0)) || { echo "there is no fuzzer $only" >&2; exit 2; }

start() {
  local name=$1 folder=$OUT/$1
  mkdir -p "$folder/corpus"
  tar -xJf "simulator/fuzz/corpus/$name.tar.xz" -C "$folder/corpus" || exit 1
  # Memory that is kept from input to input (tables, spare memory) would be examined for leaks after
  # every input: leaks_of examines it once, at the end. Seconds are wall-clock time: a busy machine
  # must not turn waiting into a hang.
  # shellcheck disable=SC2046
  "${program_of[$name]}" $(options_of "$name") -timeout=300 -rss_limit_mb=3000 -reload=0 \
    -print_funcs=0 -detect_leaks=0 \
    -artifact_prefix="$folder/" "$folder/corpus" > "$folder/log.txt" 2>&1 &
  pid_of[$name]=$!
  used_of[$name]=0
}

# Observes the fuzzer $1; false when it has ended.
watch() {
  local name=$1 used
  if kill -0 "${pid_of[$name]}" 2> /dev/null; then
    used=$(cpu_seconds "${pid_of[$name]}")
    [[ -n $used ]] && used_of[$name]=$used
    ((${used_of[$name]} < seconds)) || kill -USR1 "${pid_of[$name]}" 2> /dev/null
    return 0
  fi
  wait "${pid_of[$name]}" && verdict_of[$name]=0 || verdict_of[$name]=1
  return 1
}

# Replays every input that the fuzzer $1 has kept in one process, whose end shows unfreed memory.
leaks_of() {
  # shellcheck disable=SC2046
  "${program_of[$1]}" $(options_of "$1") -runs=0 -timeout=300 -rss_limit_mb=3000 -detect_leaks=0 \
    -artifact_prefix="$OUT/$1/" "$OUT/$1/corpus" \
    > "$OUT/$1/leaks.txt" 2>&1
}

report() {
  local name=$1 log=$OUT/$1/log.txt
  printf '%-10s %12s %10s %16s %12s %9s\n' "$name" "$(executions_of "$log")" \
    "$(status_of "$log" cov:)" "$(status_of "$log" corp:)" \
    "$(awk -v s="${used_of[$name]}" 'BEGIN { printf "%.1f", s / 60 }')" \
    "${verdict_of[$name]:-running}"
}

trap 'kill "${pid_of[@]}" 2> /dev/null' EXIT
header() {
  printf '%-10s %12s %10s %16s %12s %9s\n' fuzzer executions coverage corpus "CPU minutes" failures
}

waiting=("${names[@]}")
running=()
last=$SECONDS
while ((${#waiting[@]} + ${#running[@]} > 0)); do
  while ((${#waiting[@]} > 0 && ${#running[@]} < PROCESSORS)); do
    start "${waiting[0]}"
    running+=("${waiting[0]}")
    waiting=("${waiting[@]:1}")
  done
  sleep 1
  still=()
  for name in "${running[@]}"; do
    if watch "$name"; then still+=("$name"); fi
  done
  running=("${still[@]+"${still[@]}"}")
  if ((SECONDS - last >= 30 && ${#running[@]} > 0)); then
    last=$SECONDS
    header
    for name in "${running[@]}"; do report "$name"; done
  fi
done

for name in "${names[@]}"; do
  ((verdict_of[$name] != 0)) || leaks_of "$name" || verdict_of[$name]=1 leaked[$name]=yes
done

echo
header
failed=0
for name in "${names[@]}"; do report "$name"; failed=$((failed + verdict_of[$name])); done
for name in "${names[@]}"; do
  if [[ -n ${leaked[$name]:-} ]]; then
    echo
    echo "$name: the inputs that were kept leak memory, see $OUT/$name/leaks.txt, which ends with"
    tail -n 25 "$OUT/$name/leaks.txt" | sed 's/^/    /'
    printf 'Which of them:\n    %s %s\n' \
      "bazel run //simulator/fuzz:${name}_fuzzer -- -runs=0 -detect_leaks=1" "$OUT/$name/corpus"
  elif ((verdict_of[$name] != 0)); then
    echo
    echo "$name: see $OUT/$name/log.txt, which ends with"
    tail -n 25 "$OUT/$name/log.txt" | sed 's/^/    /'
    input=$(sed -nE 's/.*Test unit written to (.*)/\1/p' "$OUT/$name/log.txt" | tail -n 1)
    [[ -z $input ]] ||
      printf 'The input is kept. Again:\n    bazel run //simulator/fuzz:%s_fuzzer -- %s\n' \
        "$name" "$input"
  elif [[ -n $update ]]; then
    least=$OUT/$name/least
    rm -rf "$least" && mkdir "$least"
    "${program_of[$name]}" -merge=1 "$least" "$OUT/$name/corpus" > "$OUT/$name/merge.txt" 2>&1 ||
      exit 1
    tar --sort=name --mtime=@0 --owner=0 --group=0 \
      --numeric-owner -cJf "$ROOT/simulator/fuzz/corpus/$name.tar.xz" -C "$least" .
    echo "$name: $(find "$least" -type f | wc -l) inputs in simulator/fuzz/corpus/$name.tar.xz"
  fi
done
exit $((failed > 0))
