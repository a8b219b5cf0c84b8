"""cuda.core: programs that NVRTC compiles to PTX or to simulated machine code, and linking."""

import numpy as np
from check import check, finish
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

SOURCE = r"""
extern "C" __global__ void count(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}"""
device = Device()
device.set_current()
arch = f"sm_{device.arch}"


def compiled(form):
    return Program(SOURCE, "c++", ProgramOptions(arch=arch, std="c++17")).compile(form)


def run(code):
    stream = device.create_stream()
    memory = device.allocate(4000, stream=stream)
    kernel = code.get_kernel("count")
    launch(stream, LaunchConfig(grid=8, block=128), kernel, memory, np.int32(1000))
    stream.sync()


check("PTX", lambda: run(compiled("ptx")))
check("cubin", lambda: run(compiled("cubin")))
check("link",
      lambda: run(Linker(compiled("ptx"), options=LinkerOptions(arch=arch)).link("cubin")))
finish()
