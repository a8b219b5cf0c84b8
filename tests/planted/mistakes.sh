# shellcheck shell=bash
# Reads lists of mistakes (harness.txt says how they are written) and plants one of them. Sourced.

# Of mistake i: the file, what is wrong, the text that goes and the one that comes, labels of tests,
# why it may survive, the function that the text is in.
FILES=() SENTENCES=() SYMBOLS=() BEFORE=() AFTER=() TESTS=() WIDER=() ARGUED=()

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
          FILES+=("$file") SENTENCES+=("${line#mistake }") SYMBOLS+=('') BEFORE+=('') AFTER+=('') \
            TESTS+=("$tests") WIDER+=("$wider") ARGUED+=('')
          [[ -n $file && -n $tests ]] ||
            { echo "$list:$number: a file and its tests must be named first" >&2; return 1; }
          ;;
        'argued '* | 'in '* | -* | +*)
          ((last >= 0)) || { echo "$list:$number: this belongs to no mistake: $line" >&2;
            return 1; }
          case $line in
            argued*) ARGUED[last]=${line#argued } ;;
            in*) SYMBOLS[last]=${line#in } ;;
            # A line's end stands between two lines alone: of one line, the text may be a part.
            -*) BEFORE[last]+=$goes${line#-} goes=$'\n' ;;
            +*) AFTER[last]+=$comes${line#+} comes=$'\n' ;;
          esac
          ;;
        *) echo "$list:$number: neither file, tests, wider, mistake, in, argued, - nor +: $line" \
          >&2; return 1 ;;
      esac
    done < "$list"
  done
}

# on_source MISTAKE TREE PROGRAM: runs Perl's PROGRAM on the mistake's file. `@found` has begin and
# end of each place where the mistake's text stands; `$text` is the file. Layout does not count:
# between two tokens stand any blanks, line ends and comments, and a string may be broken into
# several. With `in SYMBOL` only the body of that function counts.
on_source() {
  BEFORE_TEXT=${BEFORE[$1]} AFTER_TEXT=${AFTER[$1]} SYMBOL=${SYMBOLS[$1]} perl -0777 -e '
    my $text = <>;
    my $code = $ENV{BEFORE_TEXT};
    my $string = qr/"(?:\\.|[^"\\\n])*"/;
    $code =~ s{($string)|//[^\n]*}{$1 // ""}ge;
    1 while $code =~ s/($string)\s*\n\s*($string)/substr($1, 0, -1) . substr($2, 1)/e;
    my @tokens;
    while ($code =~ /($string)|(\w+|\S)/g) {
      push @tokens, defined $1 ? join("(?:\"\\s*\")?", map { quotemeta } $1 =~ /\\.|./gs)
                               : quotemeta $2;
    }
    my $gap = qr{(?:\s|//[^\n]*(?=\n))*};
    my $pattern = join $gap, @tokens;
    my ($begin, $end) = (0, length $text);
    if ($ENV{SYMBOL} ne "") {
      my $body = qr/(\{(?:$string|\x27(?:\\.|[^\x27\\])+\x27|[^{}"\x27]|(?-1))*\})/;
      $text =~ /\b\Q$ENV{SYMBOL}\E\s*\([^;{]*$body/ ? (($begin, $end) = ($-[1], $+[1]))
                                                      : ($end = 0);
    }
    my @found;
    if (@tokens) {
      while ($text =~ /(?=($pattern))/g) {
        push @found, [$-[1], $+[1]] if $-[1] >= $begin && $+[1] <= $end;
      }
    }
    '"$3" "$2/${FILES[$1]}"
}

# Why mistake $1 cannot be planted in the tree $2; nothing when it can.
problem_of() {
  [[ -n ${BEFORE[$1]} ]] || { echo "no text is to be replaced"; return; }
  [[ ${BEFORE[$1]} != "${AFTER[$1]}" ]] || { echo "nothing would change"; return; }
  [[ -r $2/${FILES[$1]} ]] || { echo "there is no such file"; return; }
  on_source "$1" "$2" '
    print "its text is no longer there" if @found == 0;
    print "its text is there more than once" if @found > 1;'
}

# plant MISTAKE TREE: after problem_of has said nothing.
plant() {
  local planted
  planted=$(on_source "$1" "$2" '
    my $after = $ENV{AFTER_TEXT};
    $after =~ s/^\s+//;
    print substr($text, 0, $found[0][0]), $after, substr($text, $found[0][1]);')
  printf '%s\n' "$planted" > "$2/${FILES[$1]}"
}

# check_mistakes TREE: 1 with a line on stderr for each mistake that cannot be planted, or that
# another one repeats.
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
