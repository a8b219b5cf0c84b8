#!/bin/bash
# sanitizer_table.sh PLANTED [TOOL...]: runs every planted mistake under every tool of
# compute-sanitizer on this machine's GPU, and prints a line per mistake. docs/journal/sanitizer.md
# holds the results.
#   found     the tool reported an error
#   clean     it reported none, and the program ended
#   hung      neither within ten seconds
#   died N    the program ended with another status, and the tool reported nothing
# Then all correct negative controls in one process per tool, which must be clean.
set -u
planted=$(readlink -f "$1")
shift
tools=("$@")
((${#tools[@]})) || tools=(memcheck racecheck initcheck synccheck)
logs=${LOGS:-$(mktemp -d)}

readonly FOUND=86 SECONDS_EACH=10

under() {  # TOOL NAME TWIN SECONDS: one word for what came of it
  local log=$logs/$1.$2.$3
  timeout -k 1 "$4" compute-sanitizer --tool "$1" --error-exitcode $FOUND --report-api-errors no \
    "$planted" "$2" "$3" > "$log" 2>&1
  local status=$?
  case $status in
    0) echo clean ;;
    "$FOUND") echo found ;;
    124 | 137) grep -q '^=========.*\(Invalid\|hazard\|Race\|Barrier\|Uninitialized\|Divergent\)' \
      "$log" && echo found || echo hung ;;
    *) grep -q '^========= .* [1-9][0-9]* error' "$log" && echo found || echo "died-$status" ;;
  esac
}
export -f under
export planted logs FOUND

compute-sanitizer --version | tail -1
for tool in "${tools[@]}"; do
  "$planted" --list | while read -r name _; do echo "$tool $name"; done
done | xargs -P "${JOBS:-12}" -L 1 bash \
  -c 'echo "$(under "$0" "$1" faulty '$SECONDS_EACH')" > "$logs/$0.$1.word"'
printf '%-44s %-20s' mistake kind
printf ' %-10s' "${tools[@]}"
echo
"$planted" --list | while read -r name kind; do
  printf '%-44s %-20s' "$name" "$kind"
  for tool in "${tools[@]}"; do printf ' %-10s' "$(cat "$logs/$tool.$name.word")"; done
  echo
done
for tool in "${tools[@]}"; do
  echo "all correct negative controls, $tool: $(under "$tool" all correct 60)"
done
