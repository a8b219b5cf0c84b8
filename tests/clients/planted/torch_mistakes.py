"""An extension of PyTorch whose kernels have mistakes. The argument names the one that runs."""

import pathlib
import sys

import torch
from torch.utils.cpp_extension import load

N = 1000


def main(mistake):
    source = pathlib.Path(__file__).with_name("torch_mistakes.cu")
    module = load(name="lockstep_mistakes", sources=[str(source)])
    x = torch.empty(N, device="cuda") if mistake == "unwritten" else torch.ones(N, device="cuda")
    module.run(mistake, x, torch.zeros(N, device="cuda"))
    torch.cuda.synchronize()


main(sys.argv[1])
