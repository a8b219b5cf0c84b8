#!/bin/sh
# `lockstep` as it is installed: each command is a program of its own, which reads its own options.
set -eu

prefix=$(dirname "$(dirname "$(readlink -f "$0")")")
tools=$prefix/libexec/lockstep
command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
  exec | counters | coverage | mutate) exec "$tools/lockstep-exec" "$command" "$@" ;;
  run | list) LOCKSTEP_COMMAND="lockstep run" exec "$tools/conform" "$command" "$@" ;;
  diff | report) exec "$tools/passport_tool" "$command" "$@" ;;
  inspect | new) exec "$tools/$command" "$@" ;;
  --version | version) echo "lockstep $(cat "$prefix/share/lockstep/VERSION")" ;;
  help | -h | --help)
    cat << 'HELP'
usage: lockstep COMMAND [OPTION...]

  exec, counters, coverage, mutate   [OPTION...] -- PROGRAM [ARGUMENT...]: a CUDA program on the simulated GPU
  inspect PROGRAM                    what of a program's device code the simulated GPU can run
  run, list  --manifest=FILE         run, or list, conformance suites
  diff BEFORE AFTER, report FOLDER   passports
  new NAME                           a kernel family of that name in this folder, for CMake and Bazel

Each has a --help of its own; --version tells the version. Manuals are in share/doc/lockstep.
HELP
    ;;
  *)
    echo "lockstep: '$command' is not a command; see lockstep --help" >&2
    exit 2
    ;;
esac
