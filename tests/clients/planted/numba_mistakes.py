"""Kernels in Numba, each with a mistake. The argument names the one that runs."""

import sys

import numpy as np
from numba import cuda

N = 1000


@cuda.jit(lineinfo=True)
def race(x, out):
    out[cuda.threadIdx.x] += x[cuda.grid(1)]  # planted: race


@cuda.jit(lineinfo=True)
def off_by_one(x, out):
    i = cuda.grid(1)
    if i <= x.size:
        out[i] = x[i]  # planted: off_by_one


@cuda.jit(lineinfo=True)
def unwritten(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 2 + 1  # planted: unwritten


def main(mistake):
    x = cuda.to_device(np.ones(N, dtype=np.float32))
    out = cuda.to_device(np.zeros(N, dtype=np.float32))
    if mistake == "race":
        race[4, 128](x, out)
    elif mistake == "off_by_one":
        off_by_one[8, 128](x, out)
    else:
        unwritten[8, 128](cuda.device_array(N, dtype=np.float32), out)
    cuda.synchronize()


main(sys.argv[1])
