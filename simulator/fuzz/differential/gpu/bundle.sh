#!/bin/bash
# Packs what runs random programs on a GPU where there is no Bazel: bazel run
# //simulator/fuzz:gpu_bundle -- FOLDER
set -eu

program=$(realpath "$1") run=$(realpath "$2") folder=${3:-lockstep-out/fuzz/gpu-bundle}
cd "${BUILD_WORKSPACE_DIRECTORY:-.}"
rm -rf "$folder"
mkdir -p "$folder/lib"
cp "$program" "$folder/differential_gpu"
cp "$run" "$folder/run.sh"
# Includes the compiler's C++ library, because the other machine's may be older.
ldd "$program" | awk '/libstdc\+\+|libgcc_s/ { print $3 }' | xargs -I {} cp -L {} "$folder/lib/"
chmod -R u+w "$folder"
du -sh "$folder"
