"""Warp: arrays and a kernel."""

import numpy as np
import warp as wp
from check import check, finish

host = np.arange(1000, dtype=np.float32)


@wp.kernel
def twice(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * 2.0


def kernel():
    x = wp.array(host, device="cuda:0")
    out = wp.zeros(1000, dtype=float, device="cuda:0")
    wp.launch(twice, dim=1000, inputs=[x, out], device="cuda:0")
    return np.array_equal(out.numpy(), 2 * host)


check("start", lambda: wp.init())
check("copies", lambda: np.array_equal(wp.array(host, device="cuda:0").numpy(), host))
check("kernel", kernel)
finish()
