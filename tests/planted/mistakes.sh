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

# on_sources TREE PROGRAM MISTAKE...: runs Perl's PROGRAM for each mistake. `$text` is its file,
# undefined if there is none; `$before` and `$after` are its texts. `@found` has begin and end of
# each place where `$before` stands. Layout does not count: between two tokens stand any blanks,
# line ends and comments, and a string may be broken into several. With `in SYMBOL` only the body of
# that function counts.
on_sources() {
  local tree=$1 program=$2 i
  for i in "${@:3}"; do
    printf '%s\0' "$tree/${FILES[i]}" "${SYMBOLS[i]}" "${BEFORE[i]}" "${AFTER[i]}"
  done | perl -0 -ne '
    chomp(my $file = $_);
    chomp(my ($symbol, $before, $after) = map { scalar <> } 1 .. 3);
    if (!exists $texts{$file}) {
      local $/;
      my $source;
      $texts{$file} = open($source, "<", $file) ? <$source> : undef;
    }
    my $text = $texts{$file};
    my $code = $before;
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
    my ($begin, $end) = (0, length($text // ""));
    if (defined $text && $symbol ne "") {
      my $body = qr/(\{(?:$string|\x27(?:\\.|[^\x27\\])+\x27|[^{}"\x27]|(?-1))*\})/;
      $text =~ /\b\Q$symbol\E\s*\([^;{]*$body/ ? (($begin, $end) = ($-[1], $+[1]))
                                              : ($end = 0);
    }
    my @found;
    if (defined $text && @tokens) {
      while ($text =~ /(?=($pattern))/g) {
        push @found, [$-[1], $+[1]] if $-[1] >= $begin && $+[1] <= $end;
      }
    }
    '"$program"
}

# problems_of TREE MISTAKE...: a line for each: why it cannot be planted in the tree; empty when it
# can.
problems_of() {
  on_sources "$1" '
    print $before eq ""      ? "no text is to be replaced"
          : $before eq $after ? "nothing would change"
          : !defined $text    ? "there is no such file"
          : @found == 0       ? "its text is no longer there"
          : @found > 1        ? "its text is there more than once"
                              : "", "\n";' "${@:2}"
}

# plant MISTAKE TREE: after problems_of has said nothing.
plant() {
  local planted
  planted=$(on_sources "$2" '
    $after =~ s/^\s+//;
    print substr($text, 0, $found[0][0]), $after, substr($text, $found[0][1]);' "$1")
  printf '%s\n' "$planted" > "$2/${FILES[$1]}"
}

# check_mistakes TREE: 1 with a line on stderr for each mistake that cannot be planted, or that
# another one repeats.
check_mistakes() {
  local i problem status=0 problems
  local -A known=()
  mapfile -t problems < <(problems_of "$1" "${!FILES[@]}")
  for i in "${!FILES[@]}"; do
    problem=${problems[i]}
    [[ -z ${known[${FILES[i]}: ${SENTENCES[i]}]:-} ]] || problem="another mistake has this name"
    known[${FILES[i]}: ${SENTENCES[i]}]=1
    [[ -z $problem ]] || { echo "${FILES[i]}: ${SENTENCES[i]}: $problem" >&2; status=1; }
  done
  return "$status"
}
