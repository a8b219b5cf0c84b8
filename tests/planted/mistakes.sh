# shellcheck shell=bash
# Reads lists of mistakes (harness.txt says how they are written) and plants one of them. Sourced.

# Of mistake i: the file, what is wrong, the text that goes and the one that comes, labels of tests, why it may survive.
FILES=() SENTENCES=() BEFORE=() AFTER=() TESTS=() WIDER=() ARGUED=()

# read_mistakes LIST...: 1 with a sentence on stderr for the first line that cannot be read.
read_mistakes() {
  local list line number file tests wider last goes comes
  for list; do
    file='' tests='' wider='' number=0 last=-1
    while IFS= read -r line || [[ -n $line ]]; do
      number=$((number + 1))
      case $line in
        '' | '#'*) ;;
        'file '*) file=${line#file } tests='' wider='' last=-1 ;;
        'tests '*) tests=${line#tests } ;;
        'wider '*) wider=${line#wider } ;;
        'mistake '*)
          last=${#FILES[@]}
          goes='' comes=''
          FILES+=("$file") SENTENCES+=("${line#mistake }") BEFORE+=('') AFTER+=('') TESTS+=("$tests") WIDER+=("$wider") ARGUED+=('')
          [[ -n $file && -n $tests ]] || { echo "$list:$number: a file and its tests must be named first" >&2; return 1; }
          ;;
        'argued '* | -* | +*)
          ((last >= 0)) || { echo "$list:$number: this belongs to no mistake: $line" >&2; return 1; }
          case $line in
            argued*) ARGUED[last]=${line#argued } ;;
            # A line's end stands between two lines alone: of one line, the text may be a part.
            -*) BEFORE[last]+=$goes${line#-} goes=$'\n' ;;
            +*) AFTER[last]+=$comes${line#+} comes=$'\n' ;;
          esac
          ;;
        *) echo "$list:$number: neither file, tests, wider, mistake, argued, - nor +: $line" >&2; return 1 ;;
      esac
    done < "$list"
  done
}

# with_text MISTAKE TREE PROGRAM: awk's PROGRAM with the mistake's file in `text`, and `before` and `after`. (The shell's own
# patterns take seconds for a file.)
with_text() {
  BEFORE_TEXT=${BEFORE[$1]} AFTER_TEXT=${AFTER[$1]} awk '
    { text = text $0 "\n" }
    END { before = ENVIRON["BEFORE_TEXT"]; after = ENVIRON["AFTER_TEXT"]; at = index(text, before); '"$3"' }' "$2/${FILES[$1]}"
}

# Why mistake $1 cannot be planted in the tree $2; nothing when it can.
problem_of() {
  [[ -n ${BEFORE[$1]} ]] || { echo "no text is to be replaced"; return; }
  [[ ${BEFORE[$1]} != "${AFTER[$1]}" ]] || { echo "nothing would change"; return; }
  [[ -r $2/${FILES[$1]} ]] || { echo "there is no such file"; return; }
  with_text "$1" "$2" '
    if (at == 0) print "its text is no longer there"
    else if (index(substr(text, at + 1), before) > 0) print "its text is there more than once"'
}

# plant MISTAKE TREE: after problem_of has said nothing.
plant() {
  local planted
  planted=$(with_text "$1" "$2" 'printf "%s%s%s", substr(text, 1, at - 1), after, substr(text, at + length(before))')
  printf '%s\n' "$planted" > "$2/${FILES[$1]}"
}

# check_mistakes TREE: 1 with a line on stderr for each mistake that cannot be planted, or that another one repeats.
check_mistakes() {
  local i problem status=0
  local -A known=()
  for i in "${!FILES[@]}"; do
    problem=$(problem_of "$i" "$1")
    [[ -z ${known[${FILES[i]}: ${SENTENCES[i]}]:-} ]] || problem="another mistake has this name"
    known[${FILES[i]}: ${SENTENCES[i]}]=1
    [[ -z $problem ]] || { echo "${FILES[i]}: ${SENTENCES[i]}: $problem" >&2; status=1; }
  done
  return "$status"
}
