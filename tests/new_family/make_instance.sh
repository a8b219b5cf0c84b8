#!/bin/bash
# make_instance.sh NAME FOLDER: instantiates the template in a tree of its own and puts the files
# that it wrote in FOLDER. Run in the workspace's root.
set -euo pipefail
readonly EXIT_USAGE=2
say() { echo "new: $*" >&2; }
source templates/new_family.sh

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{kernels,reference,properties,tests/known_bad} "$tree/templates"
cp -rL templates/family "$tree/templates/"
cp -L kernels/families.bzl "$tree/kernels/"
chmod u+w "$tree/kernels/families.bzl"
touch "$tree"/{kernels,reference,properties,tests,tests/known_bad}/BUILD
new_family "$tree" "$1" > /dev/null
for folder in kernels reference properties tests; do
  mkdir -p "$2/$folder"
  cp -r "$tree/$folder"/. "$2/$folder/"
done
find "$2" -name BUILD -empty -delete
rm -f "$2/kernels/families.bzl"
