#!/bin/bash
# Whether every mistake of ./lockstep self-mutate can still be planted, and that a list which is
# wrong is an error that says where.
set -u
source bazel/tests/assert.sh
source tests/planted/mistakes.sh
# Bazel runs tests among links to the sources; the sources themselves lie beside the file that $1
# leads to.
sources=$(dirname "$(readlink -f "$1")")

clear_mistakes() {
  FILES=() SENTENCES=() SYMBOLS=() BEFORE=() AFTER=() TESTS=() WIDER=() ARGUED=()
}
# of LIST: what read_mistakes and check_mistakes say of this text, with $tree for sources.
of() {
  clear_mistakes
  printf '%s\n' "$1" > "$tree/list.txt"
  (cd "$tree" && read_mistakes list.txt 2>&1 && check_mistakes . 2>&1)
}

expect "the lists can be read" "$(cd tests/planted && read_mistakes ./*.txt 2>&1)" ""
read_mistakes tests/planted/*.txt
expect "every mistake can be planted" "$(check_mistakes "$sources" 2>&1)" ""
expect "of the harness, the references and the simulated GPU's checks there are at least 100" \
  "$(($(printf '%s\n' "${FILES[@]}" |
    grep -cE '^(harness|reference|simulator/check)/') >= 100))" 1
for folder in harness/property harness/device harness/ledger harness/conform harness/report \
  harness/timing reference simulator/check; do
  expect_match "some are in $folder" "${FILES[*]}" "(^| )$folder/"
done

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
printf 'int f(int a, int b) {\n  if (a < b) return a;\n\n  return "a\\n&" ? b : 0;\n}\n' \
  > "$tree/f.cc"
printf '%s\n' 'int g(int x, int y) {' '  // x and y' '  f("one "' '    "two", "three four");' \
  '  return x + x + x + y;' '}' '' 'int other(int y) { return ";{"[0] + y; }' > "$tree/g.cc"
head=$'file f.cc\ntests //:f_test' tail=$'file g.cc\ntests //:g_test'
expect "a mistake that fits" "$(of "$head"$'\nmistake less\n-a < b\n+a <= b')" ""
expect "a text that is gone" "$(of "$head"$'\nmistake less\n-a > b\n+a <= b')" \
  "f.cc: less: its text is no longer there"
expect "a text that is there twice" "$(of "$head"$'\nmistake less\n-return\n+throw')" \
  "f.cc: less: its text is there more than once"
expect "a text that overlaps itself" "$(of "$tail"$'\nmistake less\n-x + x\n+y')" \
  "g.cc: less: its text is there more than once"
expect "a text that is there twice, in a function" \
  "$(of "$head"$'\nmistake less\nin f\n-if (a < b)\n+if (b)')" ""
expect "a text of another function" "$(of "$head"$'\nmistake less\nin g\n-if (a < b)\n+if (b)')" \
  "f.cc: less: its text is no longer there"
expect "a text that only the function has once" "$(of "$tail"$'\nmistake less\nin other\n-y\n+x')" \
  ""
expect "blanks alone" "$(of "$head"$'\nmistake less\n-  \n+ ')" \
  "f.cc: less: its text is no longer there"
expect "another layout" \
  "$(of "$head"$'\nmistake less\n-if(a\n-    <b)  // or not\n-  return   a;\n+')" ""
expect "a string in two parts" "$(of "$tail"$'\nmistake less\n-"one two"\n+"one"')" ""
expect "a string that was in two parts" \
  "$(of "$tail"$'\nmistake less\n-"three "\n-    "four"\n+"three"')" ""
expect "the blanks of a string count" "$(of "$tail"$'\nmistake less\n-"onetwo"\n+"one"')" \
  "g.cc: less: its text is no longer there"
expect "a file that is gone" "$(of $'file h.cc\ntests //:f_test\nmistake less\n-a\n+b')" \
  "h.cc: less: there is no such file"
expect "a mistake that changes nothing" "$(of "$head"$'\nmistake less\n-a < b\n+a < b')" \
  "f.cc: less: nothing would change"
expect "a mistake of no text" "$(of "$head"$'\nmistake less\n+a < b')" \
  "f.cc: less: no text is to be replaced"
expect "two of one name" \
  "$(of "$head"$'\nmistake less\n-a < b\n+a <= b\nmistake less\n-a < b\n+a > b')" \
  "f.cc: less: another mistake has this name"
expect "a word that nobody knows" "$(of "$head"$'\nmistaken less')" \
  "list.txt:3: neither file, tests, wider, mistake, in, argued, - nor +: mistaken less"
expect "a mistake without tests" "$(of $'file f.cc\nmistake less')" \
  "list.txt:2: a file and its tests must be named first"
expect "the next file's tests are its own" "$(of "$head"$'\nfile f.cc\nmistake less')" \
  "list.txt:4: a file and its tests must be named first"
expect "a text of no mistake" "$(of "$head"$'\n-a < b')" \
  "list.txt:3: this belongs to no mistake: -a < b"

# What is planted: all of the text and nothing else, whatever characters it has.
planted() {
  clear_mistakes
  printf '%s\n' "$head" "mistake one" "$@" > "$tree/list.txt"
  read_mistakes "$tree/list.txt"
  cp "$tree/f.cc" "$tree/f.kept"
  plant 0 "$tree"
  diff "$tree/f.kept" "$tree/f.cc" | grep '^[<>]'
  mv "$tree/f.kept" "$tree/f.cc"
}
expect "a part of a line" "$(planted '-a < b' '+a <= b')" \
  $'<   if (a < b) return a;\n>   if (a <= b) return a;'
expect "signs that mean something elsewhere" "$(planted '-"a\n&" ? b' '+"\\&*" ? a')" \
  $'<   return "a\\n&" ? b : 0;\n>   return "\\\\&*" ? a : 0;'
expect "lines, an empty one among them" \
  "$(planted '- return a;' '-' '-  return' '+ return b;' '+  return')" \
  $'<   if (a < b) return a;\n< \n>   if (a < b) return b;'
expect "a text that is left out" "$(planted '-  if (a < b) return a;')" \
  $'<   if (a < b) return a;\n>   '

# The table, and what counts.
source tests/planted/self_mutate.sh
printf '%s\t%s\t1\t//:t\t%s\t%s\n' k1 noticed a.cc one k2 survived a.cc two k3 survived b.cc three \
  k4 'not compiled' b.cc four > "$tree/results.tsv"
expect "the table" "$(print_table ' k3' "$tree/results.tsv")" "   1 of   2 noticed  a.cc
    SURVIVED: two
   0 of   2 noticed  b.cc
    survived, argued: three
    DID NOT COMPILE: four

4 planted, 1 noticed, 2 survived (1 of them argued to be none), 1 did not compile: 50.0 %"
finish
