# shellcheck shell=bash
# ./lockstep self-mutate: plants mistakes into the project itself, one at a time, and asks its
# tests. Sourced by ./lockstep, whose ROOT, say, set_up and SANDBOX_OPTIONS it uses.
# docs/reference/mutation.md says what it is good for.

self_mutate_help() {
  cat <<'HELP'
usage: ./lockstep self-mutate [OPTION...]

Plants mistakes (tests/planted/*.txt) one at a time into a copy of the harness, the references and
the simulated GPU's checks, and runs the tests that must notice. The copy, and Bazel's output for
it, stay under ~/.cache/lockstep.

  --only=PATTERN    only mistakes whose "file: sentence" matches this regular expression
  --sample=N        only N of them, drawn by --seed
  --seed=N          of the sample (default: 1)
  --jobs=N          what Bazel may do at once (default: as many as there are processors)
  --resume          keep what the last run noticed, and plant the others: those that it did not
                    plant, and its survivors
  --fail-under=P    exit status 1 if less than P percent are noticed
  --list            print the mistakes, plant none

lockstep-out/self-mutate gets results.tsv, and Bazel's output for each mistake that survived or did
not compile.
Exit status: 0; 1 the score is below --fail-under, a mistake cannot be planted or does not compile,
or a test is red without any; 2 wrong usage.
HELP
}

# in_copy LABEL...: runs these tests in the copy; Bazel's exit status, its output in $copy_log.
# Bazel 4.2.3 ends with 0 if a shard of the only test fails, because it stops the other shards.
in_copy() {
  local status=0
  (cd "$copy" && bazel test "${SANDBOX_OPTIONS[@]}" --jobs="$jobs" \
    --notest_keep_going --noshow_progress --test_output=errors "${in_copy_options[@]}" "$@") \
    < /dev/null > "$copy_log" 2>&1 || status=$?
  if ((status == 0)) && grep -q 'Test failed: aborting' "$copy_log"; then status=3; fi
  return "$status"
}

# The copy holds what git knows of the working tree and nothing else.
copy_tree() {
  local path
  mkdir -p "$copy"
  find "$copy" -mindepth 1 -maxdepth 1 ! -name 'bazel-*' -exec rm -rf {} +
  git -C "$ROOT" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' path; do
    [[ -e $ROOT/$path ]] && printf '%s\0' "$path"
  done | tar -C "$ROOT" --null --files-from=- -cf - | tar -C "$copy" -xf -
}

# What a verdict holds for: the mistake, the file that it is planted into, the tests.
key_of() {
  { cat "$ROOT/${FILES[$1]}";
    printf '%s\n' "${BEFORE[$1]}" "${AFTER[$1]}" "${TESTS[$1]} ${WIDER[$1]}"; } | sha256sum |
      cut -c1-16
}

# verdict_on MISTAKE: sets verdict (noticed, survived or "not compiled") and by, the test that
# noticed.
verdict_on() {
  local labels tier status
  by='' planted_file=${FILES[$1]}
  cp "$copy/$planted_file" "$copy.kept"
  plant "$1" "$copy"
  for tier in "${TESTS[$1]}" "${WIDER[$1]}"; do
    read -ra labels <<< "$tier"
    ((${#labels[@]} > 0)) || continue
    status=0
    in_copy "${labels[@]}" || status=$?
    case $status in
      0) ;;
      3)
        verdict=noticed
        by=$(grep -oE '^//[^ ]+ +(FAILED|TIMEOUT|NO STATUS)' "$copy_log" | head -1 |
          cut -d' ' -f1)
        break
        ;;
      1)
        verdict="not compiled"
        # What a test demands of constants is demanded by the compiler.
        grep -q 'static assertion failed' "$copy_log" && verdict=noticed by=static_assert
        break
        ;;
      *) say "bazel ended with $status:"; tail -20 "$copy_log" >&2; return 1 ;;
    esac
    verdict=survived
  done
  take_back
}

# The file as it was, whatever has become of the working tree since.
take_back() {
  [[ -z $planted_file ]] || mv "$copy.kept" "$copy/$planted_file"
  planted_file=''
}

# Hands the copy back as it is without a mistake, and the memory of its Bazel.
leave_copy() {
  trap - INT TERM
  take_back
  (cd "$copy" && bazel shutdown) > /dev/null 2>&1 || true
}

# Percent of what could be noticed: all but what survived with an argument.
print_table() {
  awk -F '\t' -v argued="$1" '
    BEGIN { n = split(argued, keys, " "); for (i = 1; i <= n; ++i) is_argued[keys[i]] = 1 }
    {
      file = $5
      if (!(file in seen)) { seen[file] = 1; order[++files] = file }
      ++planted[file]; ++all; verdict[$2]++
    }
    $2 == "noticed" { ++noticed[file] }
    $2 == "survived" && ($1 in is_argued) {
      ++with_argument
      left[file] = left[file] "\n    survived, argued: " $6
    }
    $2 == "survived" && !($1 in is_argued) { left[file] = left[file] "\n    SURVIVED: " $6 }
    $2 == "not compiled" { left[file] = left[file] "\n    DID NOT COMPILE: " $6 }
    END {
      for (i = 1; i <= files; ++i) {
        file = order[i]
        printf "%4d of %3d noticed  %s%s\n", noticed[file], planted[file], file, left[file]
      }
      counted = all - with_argument - verdict["not compiled"]
      score = 100
      if (counted > 0) score = 100 * verdict["noticed"] / counted
      printf "\n%d planted, %d noticed, %d survived (%d of them argued to be none), ", \
        all, verdict["noticed"], verdict["survived"], with_argument
      printf "%d did not compile: %.1f %%\n", verdict["not compiled"], score
    }' "$2"
}

self_mutate() {
  local option only='' sample='' seed=1 resume='' fail_under='' list='' jobs
  jobs=$(nproc)
  for option; do
    case $option in
      --only=?*) only=${option#*=} ;;
      --sample=[1-9]*) sample=${option#*=} ;;
      --seed=[0-9]*) seed=${option#*=} ;;
      --jobs=[1-9]*) jobs=${option#*=} ;;
      --fail-under=[0-9]*) fail_under=${option#*=} ;;
      --resume) resume=1 ;;
      --list) list=1 ;;
      --help) self_mutate_help; return ;;
      *) say "self-mutate does not know '$option'; see ./lockstep self-mutate --help";
        exit "$EXIT_USAGE" ;;
    esac
  done
  # shellcheck source=tests/planted/mistakes.sh
  source "$ROOT/tests/planted/mistakes.sh"
  read_mistakes "$ROOT"/tests/planted/*.txt || exit 1
  local i chosen=()
  for i in "${!FILES[@]}"; do
    [[ -z $only || "${FILES[i]}: ${SENTENCES[i]}" =~ $only ]] && chosen+=("$i")
  done
  if [[ -n $sample ]]; then
    mapfile -t chosen < <(printf '%s\n' "${chosen[@]}" |
      awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -g |
      head -n "$sample" | cut -f2 | sort -n)
  fi
  ((${#chosen[@]} > 0)) || { say "no mistake is meant by --only=$only"; exit "$EXIT_USAGE"; }
  if [[ -n $list ]]; then
    for i in "${chosen[@]}"; do echo "${FILES[i]}: ${SENTENCES[i]}"; done
    return
  fi
  check_mistakes "$ROOT" ||
    { say "these mistakes cannot be planted: tests/planted/*.txt no longer fits the sources";
    exit 1; }

  set_up
  local copy copy_log out=$ROOT/lockstep-out/self-mutate verdict by planted_file='' \
    in_copy_options=()
  copy=$HOME/.cache/lockstep/self-mutate/$(cksum <<< "$ROOT" | cut -d' ' -f1)
  copy_log=$copy.log
  mkdir -p "$out"
  [[ -n $resume ]] || rm -f "$out"/results.tsv "$out"/*.log
  touch "$out/results.tsv"
  local todo=() keys=() noticed
  noticed=$(awk -F '\t' '$2 == "noticed" { printf "%s ", $1 }' "$out/results.tsv")
  for i in "${chosen[@]}"; do
    keys[i]=$(key_of "$i")
    [[ " $noticed" == *" ${keys[i]} "* ]] || todo+=("$i")
  done

  if ((${#todo[@]} > 0)); then
    copy_tree
    trap 'leave_copy; exit 130' INT TERM
    local labels
    mapfile -t labels < <(for i in "${todo[@]}"; do echo "${TESTS[i]} ${WIDER[i]}"; done |
      tr -s ' ' '\n' | sort -u)
    say "${#todo[@]} mistakes; first ${#labels[@]} tests without any, in $copy"
    in_copy_options=()
    if ! in_copy "${labels[@]}"; then
      tail -40 "$copy_log" >&2
      leave_copy
      say "the tests are not green without a mistake; nothing was planted."
      exit 1
    fi
    # What is built with a mistake in it is of no use to anybody: it stays out of the caches.
    in_copy_options=(--noremote_upload_local_results)
    local begun=$SECONDS started done_count=0 seconds left
    for i in "${todo[@]}"; do
      started=$SECONDS
      verdict_on "$i" || { leave_copy; exit 1; }
      seconds=$((SECONDS - started)) done_count=$((done_count + 1))
      left=$(((SECONDS - begun) * (${#todo[@]} - done_count) / done_count / 60))
      [[ $verdict == noticed ]] || cp "$copy_log" "$out/${keys[i]}.log"
      printf '%s\t%s\t%s\t%s\t%s\t%s\n' "${keys[i]}" "$verdict" "$seconds" "${by:--}" \
        "${FILES[i]}" "${SENTENCES[i]}" >> "$out/results.tsv"
      printf '[%d/%d, about %d min left] %s, %d s: %s: %s%s\n' "$done_count" "${#todo[@]}" "$left" \
        "$verdict" "$seconds" "${FILES[i]}" \
        "${SENTENCES[i]}" "${by:+ ($by)}"
    done
    leave_copy
  fi

  local argued='' table
  for i in "${chosen[@]}"; do
    [[ -z ${ARGUED[i]} ]] || argued+=" ${keys[i]}"
  done
  # Of what was asked for, the last word on each mistake.
  awk -F '\t' -v wanted="${keys[*]}" '
    BEGIN { n = split(wanted, key, " ") }
    { last[$1] = $0 }
    END { for (i = 1; i <= n; ++i) if (key[i] in last) print last[key[i]] }' \
      "$out/results.tsv" > "$out/asked.tsv"
  table=$(print_table "$argued" "$out/asked.tsv")
  rm "$out/asked.tsv"
  printf '%s\n' "$table" | tee "$out/table.txt"
  [[ $table != *"DID NOT COMPILE"* ]] ||
    { say "a mistake that does not compile shows nothing: mend it in tests/planted"; exit 1; }
  [[ -z $fail_under ]] || awk -v score="$(tail -1 <<< "$table" | sed 's/.*: \(.*\) %/\1/')" \
    -v least="$fail_under" \
    'BEGIN { exit !(score + 0 >= least + 0) }' || { say "less than $fail_under % were noticed";
    exit 1; }
}
