#!/bin/sh
# The entry script of an unpacked bundle: `lockstep` on machines without Bazel and without a CUDA
# toolkit. See README.txt.
set -eu

here=$(dirname "$(readlink -f "$0")")
# The C++ runtime of the machine that built the bundle; the C library is this machine's.
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
RUNFILES_DIR=$here/runfiles
LOCKSTEP_COMMIT=$(cat "$here/COMMIT" 2> /dev/null || true)
LOCKSTEP_COMMAND="$0 run"
export LD_LIBRARY_PATH RUNFILES_DIR LOCKSTEP_COMMIT LOCKSTEP_COMMAND
unset BUILD_WORKSPACE_DIRECTORY BUILD_WORKING_DIRECTORY
conform=$here/runfiles/lockstep/harness/conform/conform
manifest=
if [ -f "$here/runfiles/SUITES" ]; then  # a bundle of another workspace
  { read -r LOCKSTEP_WORKSPACE && read -r manifest; } < "$here/runfiles/SUITES"
  export LOCKSTEP_WORKSPACE
  manifest=$here/runfiles/$manifest
  conform=${conform}_elsewhere
fi

if [ ! -x "$conform" ]; then
  echo "lockstep: $conform is missing or may not be executed: unpack the whole archive," \
    "on a file system that allows programs" >&2
  exit 3
fi
if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
  echo "lockstep: this bundle is for Linux on x86-64, and this is $(uname -s) on $(uname -m)" >&2
  exit 3
fi

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
  run)
    # A machine with a bundle tests its own GPU by default.
    device=--device=gpu
    for option; do
      case $option in --device | --device=*) device= ;; esac
    done
    exec "$conform" run ${device:+"$device"} ${manifest:+"--manifest=$manifest"} "$@"
    ;;
  list) exec "$conform" list ${manifest:+"--manifest=$manifest"} "$@" ;;
  diff | report) exec "$here/runfiles/lockstep/harness/report/passport_tool" "$command" "$@" ;;
  help | -h | --help)
    cat "$here/README.txt"
    ;;
  *)
    echo "lockstep: '$command' is not a command of a bundle; see ./lockstep help" >&2
    exit 2
    ;;
esac
