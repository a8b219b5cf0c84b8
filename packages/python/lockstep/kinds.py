"""The kinds of candidates in a worker: a kernel, a shared library or a Python function."""

import ctypes
import importlib.util
import os
import re
import sys
from typing import Any, Dict, List

from lockstep.device import Array, Module, Stream
from lockstep.later import np

# NVIDIA's libraries with a simulated version, and the prefixes of their functions.
_SIMULATED = ("libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12", "libcurand.so.10")
SIMULATED_CALLS = ("cublas", "cufft", "curand")
_SIMULATED_SYMBOL = re.compile("undefined symbol: (" + "|".join(SIMULATED_CALLS) + ")")


def simulated_folder() -> str:
    """The folder of the simulated libraries."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip().rsplit(" ", 1)[-1]
            if os.path.basename(path) == "libcudart.so.13":
                return os.path.dirname(path)
    return ""


_CTYPES = {"b1": ctypes.c_bool, "f4": ctypes.c_float, "f8": ctypes.c_double,
           "i1": ctypes.c_int8, "i2": ctypes.c_int16, "i4": ctypes.c_int32, "i8": ctypes.c_int64,
           "u1": ctypes.c_uint8, "u2": ctypes.c_uint16, "u4": ctypes.c_uint32,
           "u8": ctypes.c_uint64}


class Scalar:
    """A scalar argument of a call: its bytes, and its type as NumPy spells it, such as "<f4"."""

    def __init__(self, data: bytes, storage: str):
        self.data, self.storage = data, storage

    def for_kernel(self) -> Any:
        kind = self.storage[1:]
        return _CTYPES["u2" if kind == "f2" else kind].from_buffer_copy(self.data)

    def for_host(self) -> Any:
        return _CTYPES[self.storage[1:]].from_buffer_copy(self.data)

    def for_python(self) -> Any:
        return np.frombuffer(self.data, self.storage)[0].item()


class _KernelCandidate:
    """A kernel without host code: the worker launches it."""

    def __init__(self, what: Dict[str, Any]):
        with open(what["file"], encoding="utf-8") as file:
            self.module = Module(file.read())
        self.kernel = self.module.kernel(what["entry"])
        self.variables: List[str] = what["variables"]

    def call(self, arguments: List[Any], what: Dict[str, Any], stream: Stream) -> None:
        made = [a if isinstance(a, Array) else a.for_kernel() for a in arguments]
        self.kernel.launch(what["grid"], what["block"], made, what["shared"], stream)

    def state(self) -> Dict[str, int]:
        """A hash of each variable in device memory, in which a kernel could keep state."""
        return {name: hash(self.module.variable(name)) for name in self.variables}


class _HostCandidate:
    """A shared library: int ENTRY(arguments…, cudaStream_t)."""

    def __init__(self, what: Dict[str, Any]):
        path = os.path.abspath(what["file"])
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOW)
        except OSError as error:
            if not _SIMULATED_SYMBOL.search(str(error)):
                raise
            for name in _SIMULATED:
                ctypes.CDLL(os.path.join(simulated_folder(), name), mode=os.RTLD_GLOBAL)
            library = ctypes.CDLL(path, mode=os.RTLD_NOW)
        self.function = getattr(library, what["entry"])
        self.returns_status = what["returns_status"]
        self.function.restype = ctypes.c_int if self.returns_status else None

    def call(self, arguments: List[Any], what: Dict[str, Any], stream: Stream) -> None:
        made = [ctypes.c_void_p(a.address if a.size else 0) if isinstance(a, Array) else
                a.for_host() for a in arguments]
        status = self.function(*made, stream.handle)
        if self.returns_status and status != 0:
            raise RuntimeError(f"it returned {status}")

    def state(self) -> Dict[str, int]:
        return {}


class _PythonCandidate:
    """A function in a Python file."""

    def __init__(self, what: Dict[str, Any]):
        sys.path.insert(0, os.path.dirname(os.path.abspath(what["file"])))
        spec = importlib.util.spec_from_file_location("candidate", what["file"])
        module = importlib.util.module_from_spec(spec)
        sys.modules["candidate"] = module
        spec.loader.exec_module(module)
        self.function = getattr(module, what["entry"])
        self.arrays = what["arrays"]

    def call(self, arguments: List[Any], what: Dict[str, Any], stream: Stream) -> None:
        scalars = [a if isinstance(a, Array) else a.for_python() for a in arguments]
        if self.arrays == "torch":
            import torch
            made = [torch.as_tensor(a, device="cuda") if isinstance(a, Array) else a
                    for a in scalars]
            with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle.value)):
                self.function(*made)
        elif self.arrays == "cupy":
            import cupy
            made = [cupy.asarray(a) if isinstance(a, Array) else a for a in scalars]
            with cupy.cuda.ExternalStream(stream.handle.value):
                self.function(*made)
        else:
            self.function(*scalars, stream=stream)

    def state(self) -> Dict[str, int]:
        return {}


CANDIDATES = {"kernel": _KernelCandidate, "host": _HostCandidate, "python": _PythonCandidate}
