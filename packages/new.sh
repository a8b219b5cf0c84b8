#!/bin/bash
# `lockstep new NAME`, installed: makes a kernel family in the current folder.
set -euo pipefail
readonly EXIT_USAGE=2
say() { echo "lockstep: $*" >&2; }

usage() {
  echo "usage: lockstep new [--namespace=NAMESPACE] NAME: makes the folder NAME with a kernel" \
    "family, to be filled in, for CMake and Bazel" >&2
}

name='' namespace=''
while (($# > 0)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --namespace=*) namespace=${1#*=} ;;
    --namespace) namespace=${2:-}; shift ;;
    -*) usage; exit "$EXIT_USAGE" ;;
    *) [[ ! $name ]] || { usage; exit "$EXIT_USAGE"; }; name=$1 ;;
  esac
  shift
done
[[ $name ]] || { usage; exit "$EXIT_USAGE"; }
templates=$(dirname \
  "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")/share/lockstep/templates
# shellcheck source=../templates/new_family.sh
source "$templates/new_family.sh"
new_project_family "$templates" "$PWD" "$name" "$namespace"
