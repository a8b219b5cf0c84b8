#!/bin/bash
# bundle_pack.sh ARCHIVE ENTRY README COMPILER LISTING: packs what LISTING names (lines of "path
# among the runfiles<TAB>file") into the tar file ARCHIVE. See bundle.bzl.
set -euo pipefail

archive=$1 entry=$2 readme=$3 compiler=$4 listing=$5
strip=$(dirname "$compiler")/strip
[[ -x $strip ]] || strip=strip
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
top=$scratch/lockstep-bundle
mkdir -p "$top/lib" "$top/runfiles"

is_elf() { [[ $(head -c 4 "$1" | tail -c 3) == ELF ]]; }

while IFS=$'\t' read -r path file; do
  mkdir -p "$top/runfiles/$(dirname "$path")"
  cp --dereference "$file" "$top/runfiles/$path"
  chmod u+w "$top/runfiles/$path"
  # NVIDIA's library stays as NVIDIA built it.
  if is_elf "$file" && [[ $path != */silicon/* ]]; then "$strip" \
    --strip-unneeded "$top/runfiles/$path"; fi
done < "$listing"

# All libraries except the C library, which must be the system's.
for library in libstdc++.so.6 libgcc_s.so.1; do
  found=$("$compiler" -print-file-name="$library")
  [[ $found == /* ]] || { echo "$compiler does not know where $library is" >&2; exit 1; }
  cp --dereference "$found" "$top/lib/$library"
done

cp "$readme" "$top/README.txt"
cp "$entry" "$top/lockstep"
find "$top" -type d -exec chmod 755 {} +
find "$top" -type f -exec chmod 644 {} +
chmod 755 "$top/lockstep"
while IFS= read -r -d '' file; do
  if is_elf "$file"; then chmod 755 "$file"; fi
done < <(find "$top" -type f -size +3c -print0)
tar --create --file="$archive" --directory="$scratch" --sort=name --mtime=@0 --owner=0 --group=0 \
  --numeric-owner \
  --format=gnu lockstep-bundle
