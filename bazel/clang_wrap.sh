#!/bin/bash
# Runs clang, and lists the declared inputs that it did not read.
#
# usage: clang_wrap.sh UNREAD LIST CLANG ARGUMENT...
#   UNREAD   receives these inputs, for Bazel's unused_inputs_list
#   LIST     a file that lists the declared headers, one per line
set -euo pipefail
readonly unread=$1 list=$2
shift 2

# A parsed header stores absolute paths, which must be the same in every sandbox.
read_files=$(env PWD=/proc/self/cwd "$@" -MD -MF -)
tr ' ' '\n' <<< "$read_files" | sed -e 's#^/proc/self/cwd/##' -e 's#^\./##' | sort -u |
  comm -23 <(sort -u "$list") - > "$unread"
