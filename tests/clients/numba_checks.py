"""Numba: kernels in Python, reductions, generalised functions, streams."""

import numpy as np
from check import check, finish
from numba import cuda, float32, guvectorize, vectorize

host = np.arange(1000, dtype=np.float32)


@cuda.jit
def twice(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


@cuda.jit
def block_sum(x, out):
    shared = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    shared[t] = x[cuda.grid(1)]
    step = 64
    while step > 0:
        cuda.syncthreads()
        if t < step:
            shared[t] += shared[t + step]
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, shared[0])


@cuda.reduce
def total(a, b):
    return a + b


@vectorize(["float32(float32, float32)"], target="cuda")
def add(a, b):
    return a + b


@guvectorize(["void(float32[:], float32[:])"], "(n)->()", target="cuda")
def row_sum(row, out):
    out[0] = 0
    for value in row:
        out[0] += value


def kernel(stream=0):
    x = cuda.to_device(host, stream=stream)
    out = cuda.device_array_like(x, stream=stream)
    twice[8, 128, stream](x, out)
    made = out.copy_to_host(stream=stream)
    if stream:
        stream.synchronize()
    return np.array_equal(made, 2 * host)


def shared_memory():
    out = cuda.to_device(np.zeros(1, dtype=np.float32))
    block_sum[4, 128](cuda.to_device(host[:512]), out)
    return out.copy_to_host()[0] == host[:512].sum()


check("kernel", kernel)
check("kernel in a stream", lambda: kernel(cuda.stream()))
check("shared memory, atomics", shared_memory)
check("reduce", lambda: total(cuda.to_device(host)) == host.sum())
check("vectorize", lambda: np.array_equal(add(host, host), 2 * host))
check("guvectorize",
      lambda: np.array_equal(row_sum(host.reshape(10, 100)), host.reshape(10, 100).sum(1)))
finish()
