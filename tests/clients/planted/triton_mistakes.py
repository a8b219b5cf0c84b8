"""Kernels in Triton, each with a mistake. The argument names the one that runs."""

import sys

import torch
import triton
import triton.language as tl

N = 1000


@triton.jit
def race(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * BLOCK + i)
    tl.store(out + i, tl.load(out + i) + value)  # planted: race


@triton.jit
def off_by_one(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i <= n
    value = tl.load(x + i, mask=inside)  # planted: off_by_one
    tl.store(out + i, value, mask=inside)


@triton.jit
def unwritten(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, value * 2 + 1, mask=i < n)  # planted: unwritten


def main(mistake):
    x, out = torch.rand(N, device="cuda"), torch.zeros(N, device="cuda")
    if mistake == "race":
        race[(4,)](x, out, BLOCK=128)
    elif mistake == "off_by_one":
        off_by_one[(8,)](x, out, N, BLOCK=128)
    else:
        unwritten[(8,)](torch.empty(N, device="cuda"), out, N, BLOCK=128)
    torch.cuda.synchronize()


main(sys.argv[1])
