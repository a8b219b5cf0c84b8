"""CuPy: arrays, its own kernels, kernels by NVRTC, and calls of NVIDIA's libraries."""

import cupy as cp
import cupyx.jit
import numpy as np
from check import check, finish

host = np.arange(1000, dtype=np.float32)
device = cp.asarray(host)


def same(made, expected):
    return np.allclose(cp.asnumpy(made), expected, rtol=1e-5, atol=1e-4)


RAW = r"""
extern "C" __global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}"""
TEMPLATE = r"""
template <class T> __global__ void twice(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}"""


def launch(kernel):
    copy = device.copy()
    kernel((4,), (256,), (copy, 1000))
    return same(copy, 2 * host)


def raw_module():
    module = cp.RawModule(code=TEMPLATE, options=("-std=c++17",), name_expressions=["twice<float>"])
    return launch(module.get_function("twice<float>"))


@cupyx.jit.rawkernel()
def add_one(x, y, n):
    i = cupyx.jit.blockIdx.x * cupyx.jit.blockDim.x + cupyx.jit.threadIdx.x
    if i < n:
        y[i] = x[i] + 1


def jit():
    y = cp.empty_like(device)
    add_one((4,), (256,), (device, y, cp.int32(1000)))
    return same(y, host + 1)


@cp.fuse()
def root(x):
    return cp.sqrt(x) * 2 + 1


def fused():
    return same(root(device), np.sqrt(host) * 2 + 1)


def streams():
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        made = cp.arange(100) * 2
    stream.synchronize()
    return same(made, np.arange(100) * 2)


def events():
    first, last = cp.cuda.Event(), cp.cuda.Event()
    first.record()
    last.record()
    last.synchronize()
    return cp.cuda.get_elapsed_time(first, last) >= 0


def pool():
    made = cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(made.malloc):
        first = cp.arange(1000)
        del first
        second = cp.arange(900) * 2
    return made.total_bytes() > 0 and same(second, np.arange(900) * 2)


def matrix(kind):
    a = np.arange(100).reshape(10, 10).astype(kind)
    return same(cp.asarray(a) @ cp.asarray(a), a @ a)


square, square_host = device[:900].reshape(30, 30), host[:900].reshape(30, 30)
for name, function in {
        "copies": lambda: same(device, host),
        "arithmetic": lambda: same(device * 3 + device, host * 4),
        "broadcast": lambda: same(square + square[0], square_host + square_host[0]),
        "sum": lambda: same(device.sum(), host.sum()),
        "sum of an axis": lambda: same(square.sum(axis=0), square_host.sum(axis=0)),
        "cumsum": lambda: same(cp.cumsum(device[:100]), np.cumsum(host[:100])),
        "argmax": lambda: int(device.argmax()) == 999,
        "mean, var": lambda: same(device.var(), host.var()),
        "where": lambda: same(cp.where(device > 5, device, 0), np.where(host > 5, host, 0)),
        "boolean index": lambda: same(device[device > 5], host[host > 5]),
        "index by an array": lambda: same(device[cp.asarray([3, 1, 2])], host[[3, 1, 2]]),
        "transposed copy": lambda: same(square.T.copy(), square_host.T),
        "complex": lambda: same(cp.abs(device + 1j), np.abs(host + 1j)),
        "histogram": lambda: same(cp.histogram(device, 10)[0], np.histogram(host, 10)[0]),
        "ElementwiseKernel":
            lambda: same(
                cp.ElementwiseKernel("T x", "T y", "y = 2 * x", "twice")(device), 2 * host),
        "ReductionKernel":
            lambda: same(
                cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")(device),
                host.sum()),
        "RawKernel": lambda: launch(cp.RawKernel(RAW, "twice")),
        "RawModule": raw_module,
        "jit.rawkernel": jit,
        "fuse": fused,
        "stream": streams,
        "event": events,
        "memory pool": pool,
        "matrix product of integers": lambda: matrix(np.int64),
        "sort": lambda: same(cp.sort(device[::-1]), host),
        "unique": lambda: same(cp.unique(device % 7), np.unique(host % 7)),
        "matrix product": lambda: matrix(np.float32),
        "random": lambda: cp.random.rand(10).shape == (10,),
        "fft": lambda: same(cp.fft.fft(device), np.fft.fft(host)),
}.items():
    check(name, function)
finish()
