#!/bin/bash
# clang_wrap.sh with the real clang: unread headers are listed, a parsed header is valid in another
# folder, and an error is reported. $1: clang_wrap.sh.
set -u
source bazel/tests/assert.sh

readonly WRAP=$PWD/$1 CLANG=/usr/bin/clang++-19
cd "$TEST_TMPDIR" || exit 1
mkdir -p a b
echo '#pragma once' | tee a/parsed.h a/read.h b/read.h > a/unread.h
printf '#include "a/read.h"\n#include "b/read.h"\nint one() { return 1; }\n' > source.cc
printf '%s\n' b/read.h a/unread.h a/read.h a/parsed.h > list

"$WRAP" header_unread list "$CLANG" -iquote . -x c++-header -Xclang -fno-pch-timestamp \
  -c a/parsed.h -o parsed.pch
expect "a header is parsed" $? 0
expect "the others are unread" "$(xargs < header_unread)" "a/read.h a/unread.h b/read.h"

# Another folder, as another sandbox: the parsed header is valid there too.
mkdir moved
mv a b source.cc list parsed.pch moved
cd moved || exit 1
touch a/*
"$WRAP" unread list "$CLANG" -iquote . -include-pch parsed.pch -c source.cc -o source.o
expect "a source is compiled" $? 0
expect "its unread header is listed" "$(xargs < unread)" "a/unread.h"

echo 'int two = "2";' >> source.cc
"$WRAP" unread list "$CLANG" -iquote . -c source.cc -o source.o 2> errors
expect "an error's status" $? 1
expect_match "and its text" "$(cat errors)" "source.cc:4:5: error: "
finish
