"""Kernels for CuPy in CUDA C++, each with a mistake. The argument names the one that runs."""

import sys

import cupy as cp

N = 1000
SOURCE = r"""
extern "C" __global__ void race(const float* x, float* out) {
  out[threadIdx.x] += x[blockIdx.x * blockDim.x + threadIdx.x];  // planted: race
}
extern "C" __global__ void off_by_one(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = x[i];  // planted: off_by_one
}
extern "C" __global__ void unwritten(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * 2 + 1;  // planted: unwritten
}
"""


def main(mistake):
    kernel = cp.RawModule(code=SOURCE, options=("-lineinfo",)).get_function(mistake)
    x, out = cp.ones(N, dtype=cp.float32), cp.zeros(N, dtype=cp.float32)
    if mistake == "race":
        kernel((4,), (128,), (x, out))
    elif mistake == "off_by_one":
        kernel((8,), (128,), (x, out, cp.int32(N)))
    else:
        kernel((8,), (128,), (cp.empty(N, dtype=cp.float32), out, cp.int32(N)))
    cp.cuda.runtime.deviceSynchronize()


main(sys.argv[1])
