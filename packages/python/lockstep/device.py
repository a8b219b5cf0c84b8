"""Kernels and arrays with the driver API, in a process on the simulated GPU: sufficient to test a
kernel without a framework.

    lockstep.enable()
    kernel = lockstep.compile("scale.cu").kernel("scale")
    x = lockstep.array(np.arange(8, dtype="f4"))
    kernel[1, 8](x, x.size)
    x.numpy()

An Array has __cuda_array_interface__, so CuPy, PyTorch and Numba use it without a copy.
"""

import ctypes
import math
import numbers
import re
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from lockstep.later import np
from lockstep.session import NotEnabled, is_enabled

_SUCCESS, _NOT_FOUND = 0, 500  # CUresult


class CudaError(RuntimeError):
    """A call of the driver API failed; `status` is its CUresult."""

    def __init__(self, call: str, status: int, name: str):
        self.status = status
        super().__init__(f"{call} returned {name} ({status})")


class _Driver:
    """The simulated libcuda, with the primary context of device 0 current."""

    def __init__(self):
        if not is_enabled():
            raise NotEnabled("this process is not on the simulated GPU: call lockstep.enable() "
                             "first, start it with `lockstep exec`, or run `pytest --lockstep`")
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != _SUCCESS:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise CudaError(name, status, (text.value or b"an unknown error").decode())


_driver: Optional[_Driver] = None


def driver() -> _Driver:
    """The driver, started at the first use. Raises NotEnabled without a simulated GPU."""
    global _driver
    if _driver is None:
        _driver = _Driver()
    return _driver


class Stream:
    """A stream that does not synchronise with the default stream, unless `blocking`."""

    def __init__(self, blocking: bool = False):
        self.handle = ctypes.c_void_p()
        driver().call("cuStreamCreate", ctypes.byref(self.handle), 0 if blocking else 1)

    def synchronize(self) -> None:
        driver().call("cuStreamSynchronize", self.handle)


class Memory:
    """Bytes of device memory. address: of memory that exists already."""

    def __init__(self, size: int, address: int = 0):
        self.size, self.address = size, address
        if address:
            return
        address = ctypes.c_uint64()
        driver().call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self.address = address.value

    def free(self) -> None:
        driver().call("cuMemFree_v2", ctypes.c_uint64(self.address))
        self.address = 0

    def write(self, data: bytes, offset: int = 0) -> None:
        if data:
            driver().call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address + offset), data,
                          ctypes.c_size_t(len(data)))

    def read(self, size: int, offset: int = 0, stream: Optional[Stream] = None) -> bytes:
        out = ctypes.create_string_buffer(max(size, 1))
        if size and stream is None:
            driver().call("cuMemcpyDtoH_v2", out, ctypes.c_uint64(self.address + offset),
                          ctypes.c_size_t(size))
        elif size:
            driver().call("cuMemcpyDtoHAsync_v2", out, ctypes.c_uint64(self.address + offset),
                          ctypes.c_size_t(size), stream.handle)
            stream.synchronize()
        return out.raw[:size]


class Array:
    """An array in device memory; freed with its last reference. `memory`: a view into it."""

    def __init__(self, shape: Sequence[int], dtype: Any, memory: Optional[Memory] = None,
                 offset: int = 0, strides: Optional[Sequence[int]] = None):
        self.shape: Tuple[int, ...] = tuple(int(s) for s in shape)
        self._dtype = dtype
        self.size = math.prod(self.shape)
        self._owns = memory is None
        self.memory = Memory(self.size * self.dtype.itemsize) if memory is None else memory
        self.offset = offset
        self.strides = tuple(strides) if strides else None  # bytes; None: dense

    def __del__(self):
        try:
            if self._owns and self.memory.address:
                self.memory.free()
        except Exception:  # the interpreter ends, or the device has an error
            pass

    @property
    def dtype(self) -> "np.dtype":
        return np.dtype(self._dtype)

    @property
    def address(self) -> int:
        return self.memory.address + self.offset

    def data_ptr(self) -> int:
        """The address, under the name that Triton uses."""
        return self.address

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3, "stream": None,
                "data": (self.address if self.size else 0, False), "strides": self.strides}

    def numpy(self) -> "np.ndarray":
        """A copy on the host. Waits for the default stream. For dense arrays."""
        if self.strides:
            raise ValueError("numpy() is for dense arrays")
        data = self.memory.read(self.size * self.dtype.itemsize, self.offset)
        return np.frombuffer(data, self.dtype).reshape(self.shape).copy()


def array(values: Any) -> Array:
    """The values, copied to the device."""
    host = np.ascontiguousarray(values)
    made = Array(host.shape, host.dtype)
    made.memory.write(host.tobytes())
    return made


def empty(shape: Union[int, Sequence[int]], dtype: Any = "float32") -> Array:
    """An unwritten array: a kernel that uses its values gets a finding."""
    return Array((shape,) if isinstance(shape, int) else shape, dtype)


def _argument(value: Any) -> Any:
    """A kernel's argument as ctypes has it. An int is 32 bits wide; NumPy's scalars keep their
    type."""
    if isinstance(value, Array):
        return ctypes.c_uint64(value.address if value.size else 0)
    if hasattr(value, "__cuda_array_interface__"):
        return ctypes.c_uint64(value.__cuda_array_interface__["data"][0])
    if "numpy" in sys.modules and isinstance(value, np.generic):
        return np.ctypeslib.as_ctypes_type(value.dtype)(value.item()) \
            if value.dtype != np.float16 else ctypes.c_uint16(int(value.view(np.uint16)))
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        if not -2**31 <= value < 2**32:
            raise ValueError(f"{value} does not fit 32 bits: pass numpy.int64({value})")
        return ctypes.c_int32(value) if value < 2**31 else ctypes.c_uint32(value)
    if isinstance(value, float):
        return ctypes.c_float(value)
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure)):
        return value
    raise TypeError(f"{type(value).__name__} is no argument of a kernel")


def _dim3(value: Union[int, Sequence[int]]) -> Tuple[int, int, int]:
    sizes = (value,) if isinstance(value, numbers.Integral) else tuple(value)
    x, y, z = (tuple(int(s) for s in sizes) + (1, 1, 1))[:3]
    return x, y, z


def parameter_sizes(ptx: str, name: str) -> Optional[List[int]]:
    """The bytes of each parameter of a kernel in PTX; None where the text does not show them."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", ptx, flags=re.DOTALL)
    entry = re.search(r"\.entry\s+" + re.escape(name) + r"\s*(?:\(([^)]*)\)|\{)", text)
    if entry is None:
        return None
    sizes: List[int] = []
    for one in re.findall(r"\.param\b([^,]*)", entry.group(1) or ""):
        bits = re.search(r"\.(?:b|u|s|f)(8|16|32|64|128)\b", one)
        count = re.search(r"\[\s*(\d+)\s*\]", one)
        if bits is None:
            return None
        sizes.append(int(bits.group(1)) // 8 * (int(count.group(1)) if count else 1))
    return sizes


class Kernel:
    """A kernel of a module. kernel[grid, block, shared bytes, stream](arguments)."""

    def __init__(self, module: "Module", name: str):
        self.module, self.name = module, name
        self.handle = ctypes.c_void_p()
        try:
            driver().call("cuModuleGetFunction", ctypes.byref(self.handle), module.handle,
                          name.encode())
        except CudaError as error:
            if error.status != _NOT_FOUND:
                raise
            raise KeyError(f"the module has no kernel {name}; its kernels: "
                           f"{', '.join(module.kernels()) or 'none'}") from None
        self.sizes = parameter_sizes(module.ptx, name)

    def __getitem__(self, launch: Tuple):
        grid, block, shared, stream = (tuple(launch) + (0, None))[:4] if len(launch) < 4 else launch

        def call(*arguments: Any) -> None:
            self.launch(grid, block, arguments, shared, stream)
        return call

    def launch(self, grid: Any, block: Any, arguments: Sequence[Any], shared: int = 0,
               stream: Optional[Stream] = None) -> None:
        """Launches. grid and block: one to three numbers. shared: bytes of dynamic shared
        memory."""
        if shared > 48 * 1024:  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver().call("cuFuncSetAttribute", self.handle, 8, shared)
        if self.sizes is not None and len(arguments) != len(self.sizes):
            raise TypeError(f"{self.name} has {len(self.sizes)} parameters, and got "
                            f"{len(arguments)} arguments")
        held = [_argument(a) for a in arguments]
        for place, (given, size) in enumerate(zip(held, self.sizes or ()), 1):
            if ctypes.sizeof(given) != size:
                raise TypeError(f"parameter {place} of {self.name} has {size} bytes, and the "
                                f"argument {arguments[place - 1]!r} has {ctypes.sizeof(given)}")
        pointers = (ctypes.c_void_p * max(len(held), 1))(
            *[ctypes.cast(ctypes.byref(h), ctypes.c_void_p) for h in held])
        driver().call("cuLaunchKernel", self.handle, *_dim3(grid), *_dim3(block), shared,
                      stream.handle if stream else None, pointers, None)


class Module:
    """Loaded device code."""

    def __init__(self, ptx: str):
        self.ptx = ptx
        self.handle = ctypes.c_void_p()
        driver().call("cuModuleLoadData", ctypes.byref(self.handle), ptx.encode() + b"\0")

    def kernel(self, name: str) -> Kernel:
        return Kernel(self, name)

    def kernels(self) -> List[str]:
        """The names of its kernels."""
        count = ctypes.c_uint()
        driver().call("cuModuleGetFunctionCount", ctypes.byref(count), self.handle)
        all_of = (ctypes.c_void_p * max(count.value, 1))()
        driver().call("cuModuleEnumerateFunctions", all_of, count.value, self.handle)
        names: List[str] = []
        for function in all_of[:count.value]:
            name = ctypes.c_char_p()
            driver().call("cuFuncGetName", ctypes.byref(name), ctypes.c_void_p(function))
            names.append((name.value or b"").decode())
        return names

    def variable(self, name: str) -> bytes:
        """The bytes of a variable in device memory."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        driver().call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size),
                      self.handle, name.encode())
        out = ctypes.create_string_buffer(size.value)
        driver().call("cuMemcpyDtoH_v2", out, address, size)
        return out.raw


def compile(source: str, options: Sequence[str] = (), device: str = "sm_90") -> Module:
    """Compiles and loads a .cu or .ptx file, or CUDA C++ given as text. See compile_ptx()."""
    from lockstep.compiler import compile_ptx  # a process that loads PTX needs no compiler
    return Module(compile_ptx(source, options, device).ptx)
