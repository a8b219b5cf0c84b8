"""Triton: kernels of its tutorials in small sizes, compared with the host's results."""

import torch
import triton
import triton.language as tl
from check import check, finish
from triton.tools.tensor_descriptor import TensorDescriptor

torch.manual_seed(0)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        inside = k[None, :] + first < K
        left = tl.load(a + m[:, None] * K + k[None, :] + first,
                       mask=(m[:, None] < M) & inside, other=0.0)
        right = tl.load(b + (k[:, None] + first) * N + n[None, :],
                        mask=(k[:, None] + first < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def descriptor_kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([n, k]).T, total)
    c.store([m, n], total.to(tl.float16))


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(tl.rand(seed, i) > p, value / (1 - p), 0.0), mask=i < n)


@triton.jit
def layer_norm_kernel(x, w, b, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    centred = tl.where(i < columns, value - tl.sum(value, axis=0) / columns, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    weight, bias = tl.load(w + i, mask=i < columns), tl.load(b + i, mask=i < columns)
    tl.store(out + row * columns + i, centred * scale * weight + bias, mask=i < columns)


@triton.jit
def lock_kernel(total, lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.autotune([triton.Config({"BLOCK": b}) for b in (64, 128, 256)], key=["n"])
@triton.jit
def tuned_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def same(made, expected, bound=1e-5):
    return torch.allclose(made.cpu().float(), expected.float(), rtol=bound, atol=bound)


x, y = torch.rand(1000), torch.rand(1000)
rows = torch.randn(5, 300)


def add():
    out = torch.empty(1000, device="cuda")
    add_kernel[(4,)](x.cuda(), y.cuda(), out, 1000, BLOCK=256)
    return same(out, x + y)


def softmax():
    out = torch.empty(5, 300, device="cuda")
    softmax_kernel[(5,)](rows.cuda(), out, 300, BLOCK=512)
    return same(out, torch.softmax(rows, 1))


def matmul(kind):
    a, b = torch.randn(70, 50).to(kind), torch.randn(50, 90).to(kind)
    out = torch.empty(70, 90, device="cuda", dtype=kind)
    matmul_kernel[(2, 2)](a.cuda(), b.cuda(), out, 70, 90, 50, BM=64, BN=64, BK=32)
    return same(out, a.float() @ b.float(), 2e-2)


def descriptors():
    a, b = torch.randn(128, 64).half(), torch.randn(128, 64).half()
    out = torch.empty(128, 128, device="cuda", dtype=torch.float16)
    blocks = [[64, 32], [64, 32], [64, 64]]
    a_d, b_d, c_d = (TensorDescriptor.from_tensor(t, block)
                     for t, block in zip((a.cuda(), b.cuda(), out), blocks))
    descriptor_kernel[(2, 2)](a_d, b_d, c_d, 64, BM=64, BN=64, BK=32)
    return same(out, a.float() @ b.float().t(), 2e-2)


def dropout():
    out = torch.empty(1000, device="cuda")
    dropout_kernel[(4,)](x.cuda(), out, 1000, 0.5, 123, BLOCK=256)
    kept = out.cpu() != 0
    return 300 < int(kept.sum()) < 700 and same(out.cpu()[kept], 2 * x[kept])


def layer_norm():
    w, b = torch.rand(300), torch.rand(300)
    out = torch.empty(5, 300, device="cuda")
    layer_norm_kernel[(5,)](rows.cuda(), w.cuda(), b.cuda(), out, 300, 1e-5, BLOCK=512)
    return same(out, torch.nn.functional.layer_norm(rows, (300,), w, b), 1e-4)


def lock():
    total, taken = torch.zeros(2, dtype=torch.int32, device="cuda").split(1)
    lock_kernel[(8,)](total, taken)
    return int(total) == 8


def autotune():
    out = torch.empty(1000, device="cuda")
    tuned_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x.cuda(), out, 1000)
    return same(out, 2 * x)


check("vector addition", add)
check("softmax", softmax)
check("matrix product, f16", lambda: matmul(torch.float16))
check("matrix product, bf16", lambda: matmul(torch.bfloat16))
check("matrix product, f32", lambda: matmul(torch.float32))
check("matrix product by descriptors (TMA)", descriptors)
check("dropout", dropout)
check("layer norm", layer_norm)
check("lock", lock)
check("autotune", autotune)
finish()
