"""Changes of packages under `lockstep exec`, made when they are imported.

Benchmarks run once. Autotuners choose among configurations of a kernel by their time on a GPU. The
simulated GPU has no such time, and thousands of runs would take hours. So the benchmark functions
of Triton and of torch.compile call the function once, with checks, and always return the same time.
Each configuration runs, and an autotuner selects the first one that works.
LOCKSTEP_CONFIGURATIONS=N leaves a Triton autotuner at most N configurations, spread over its list.

CuPy allocates each array by itself, without its pool, so that an access past an array's end is also
past the allocation's end. A program may still set an allocator of its own.

Warp compiles to PTX with Python's line numbers, unless the program sets its `config` otherwise.
"""

import importlib.machinery
import os
import sys

_MILLISECONDS = 1.0


def _synchronize():
    import torch
    torch.cuda.synchronize()


def _run_once(fn, *_, quantiles=None, return_mode="mean", **__):
    """Replaces triton.testing.do_bench and similar functions."""
    fn()
    _synchronize()
    if quantiles is not None:
        return _MILLISECONDS if len(quantiles) == 1 else [_MILLISECONDS] * len(quantiles)
    return [_MILLISECONDS] if return_mode == "all" else _MILLISECONDS


def _measure_once(self, _callable, *_, **__):
    """Replaces a method of one of Inductor's benchmarkers."""
    _callable()
    _synchronize()
    return _MILLISECONDS


def _change_triton(module):
    for name in ("do_bench", "do_bench_cudagraph", "do_bench_cudagraph_proton"):
        if hasattr(module, name):
            setattr(module, name, _run_once)


def _change_autotuner(module):
    most = int(os.environ.get("LOCKSTEP_CONFIGURATIONS", "0"))
    if most < 1:
        return
    pruned = module.Autotuner.prune_configs

    def prune_configs(self, *arguments, **named):
        left = list(pruned(self, *arguments, **named))
        return left[::max(1, len(left) // most)][:most]

    module.Autotuner.prune_configs = prune_configs


def _change_inductor(module):
    for value in list(vars(module).values()):
        if not isinstance(value, type):
            continue
        for name in ("benchmark_gpu", "benchmark_gpu_with_cuda_graph"):
            if name in vars(value):
                setattr(value, name, _measure_once)


def _change_cupy(module):
    module.cuda.set_allocator(None)


def _change_warp(config):
    config.cuda_output = "ptx"
    config.lineinfo = True


_CHANGES = {
    "cupy": _change_cupy,
    "torch._inductor.runtime.benchmarking": _change_inductor,
    "triton.runtime.autotuner": _change_autotuner,
    "triton.testing": _change_triton,
    "warp.config": _change_warp,
}


# These have no base class of importlib.abc: its import would double the start of every Python
# process.
class _Loader:
    """Loads a module with another loader, and then changes it."""

    def __init__(self, loader, change):
        self._loader, self._change = loader, change

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._change(module)


class _Finder:
    """Finds the modules to change on the usual path."""

    def find_spec(self, name, path=None, target=None):
        if name not in _CHANGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, _CHANGES[name])
        return spec


def install():
    for name, change in _CHANGES.items():
        if name in sys.modules:
            change(sys.modules[name])
    sys.meta_path.insert(0, _Finder())
