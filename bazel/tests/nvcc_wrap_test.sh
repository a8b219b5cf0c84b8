#!/bin/bash
# nvcc_wrap.sh with the real nvcc: objects depend on the inputs' contents alone, undeclared headers
# are refused, and unread ones are listed. $1: nvcc_wrap.sh, $2: the toolkit's stamp.
set -u
source bazel/tests/assert.sh

readonly WRAP=$PWD/$1
TOOLKIT=$(head -1 "$2")
readonly TOOLKIT

# Makes a small workspace in the folder $1, with files dated $2.
make_workspace() {
  mkdir -p "$1/k" "$1/out"
  cat > "$1/k/scale.cu" << 'CODE'
#include "k/twice.cuh"
static __device__ float last;
namespace {
__global__ void scale(float* p) { last = p[threadIdx.x] = twice(p[threadIdx.x]); }
}  // namespace
void launch_scale(float* p) { scale<<<1, 32>>>(p); }
CODE
  echo '__device__ inline float twice(float x) { return x + x; }' > "$1/k/twice.cuh"
  echo '#define UNREAD' > "$1/k/unread.cuh"
  touch -d "$2" "$1"/k/*
}

# Compiles k/scale.cu in the workspace $1 with the declared inputs $2...; all else is as in
# cuda_library.
compile() {
  local workspace=$1
  shift
  (
    cd "$workspace" || exit 1
    printf '%s\n' "$@" external/cuda/include/cuda_runtime.h > inputs
    "$WRAP" --output out/scale.o --unread out/unread --toolkit-repository external/cuda \
      --toolkit "$TOOLKIT" \
      --inputs inputs -- "$TOOLKIT/bin/nvcc" -c k/scale.cu -o out/scale.o -ccbin /usr/bin/gcc \
      -lineinfo -I. \
      -gencode=arch=compute_90,code=sm_90 -Xcompiler=-fPIC --cudart=shared \
      -D_GLIBCXX_BITS_SPECFUN_H -frandom-seed=k/scale.cu \
      -Xcudafe --orig_src_path_name -Xcudafe k/scale.cu 2>&1
  )
}

one=$TEST_TMPDIR/one
other=$TEST_TMPDIR/some/where/else
make_workspace "$one" 2001-02-03
make_workspace "$other" 2022-11-12

output=$(compile "$one" k/scale.cu k/twice.cuh k/unread.cuh)
expect "a right file compiles ($output)" $? 0
compile "$other" k/scale.cu k/twice.cuh k/unread.cuh > /dev/null
expect "from another folder, with other times: the same object, machine code and line tables too" \
  "$(sha256sum < "$other/out/scale.o")" "$(sha256sum < "$one/out/scale.o")"
expect "the inputs that were not read" "$(xargs < "$one/out/unread")" \
  "external/cuda/include/cuda_runtime.h k/unread.cuh"
expect "nothing else is left behind" "$(ls "$one/out" | xargs)" "scale.o unread"

sed -i 's/x + x/x * 3/' "$other/k/twice.cuh"
compile "$other" k/scale.cu k/twice.cuh > /dev/null
expect "another object from another header" \
  "$([[ $(sha256sum < "$other/out/scale.o") == "$(sha256sum < "$one/out/scale.o")" ]] &&
  echo same || echo different)" different

rm "$one"/out/*
output=$(compile "$one" k/scale.cu)
expect "an undeclared header is an error" "$(($? != 0))" 1
expect_match "which names it" "$output" '^k/twice.cuh: not among the declared inputs'
expect "and leaves no object" "$(ls "$one/out")" ""

sed -i "1i #include \"$TEST_TMPDIR/outside.cuh\"" "$one/k/scale.cu"
touch "$TEST_TMPDIR/outside.cuh"
output=$(compile "$one" k/scale.cu k/twice.cuh)
expect "a header by an absolute path is an error" "$(($? != 0))" 1
expect_match "which names it" "$output" "^$TEST_TMPDIR/outside.cuh"

finish
