#!/bin/bash
# `lockstep new NAME`, installed: a kernel family in the folder that it is called in.
set -euo pipefail
readonly EXIT_USAGE=2
say() { echo "lockstep: $*" >&2; }

if (($# != 1)) || [[ $1 == -* ]]; then
  echo "usage: lockstep new NAME: makes the folder NAME with a kernel family, to be filled in," \
    "for CMake and Bazel" >&2
  [[ $* == --help || $* == -h ]] && exit 0
  exit "$EXIT_USAGE"
fi
templates=$(dirname \
  "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")/share/lockstep/templates
# shellcheck source=../templates/new_family.sh
source "$templates/new_family.sh"
new_project_family "$templates" "$PWD" "$1"
