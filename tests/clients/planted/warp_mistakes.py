"""Three Warp kernels with a mistake each. usage: warp_mistakes.py race|off_by_one|unwritten"""

import sys

import warp as wp


@wp.kernel
def race(x: wp.array(dtype=float)):
    i = wp.tid()
    x[0] = x[0] + float(i)  # planted: race


@wp.kernel
def off_by_one(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i + 1]  # planted: off_by_one


@wp.kernel
def unwritten(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]  # planted: unwritten


n = 1000
out = wp.zeros(n, dtype=float, device="cuda:0")
if sys.argv[1] == "race":
    wp.launch(race, dim=n, inputs=[wp.zeros(1, dtype=float, device="cuda:0")], device="cuda:0")
elif sys.argv[1] == "off_by_one":
    wp.launch(off_by_one, dim=n, inputs=[wp.zeros(n, dtype=float, device="cuda:0"), out],
              device="cuda:0")
else:
    wp.launch(unwritten, dim=n, inputs=[wp.empty(n, dtype=float, device="cuda:0"), out],
              device="cuda:0")
wp.synchronize()
