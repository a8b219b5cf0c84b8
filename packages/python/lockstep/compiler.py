"""Compiles CUDA C++ to PTX: with NVRTC if it is installed, otherwise with nvcc."""

import ctypes
import glob
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import List, Sequence

from lockstep.places import cuda_homes, nvcc


class CompileError(RuntimeError):
    """The source does not compile; the message contains the compiler's output."""


class NoCompiler(RuntimeError):
    """Neither NVRTC nor nvcc is installed."""


@dataclass(frozen=True)
class Compiled:
    """compiler: such as "NVRTC 13.0"; "" if PTX was given."""

    ptx: str
    compiler: str = ""


def _nvrtc_library() -> str:
    for home in cuda_homes():
        for pattern in ("lib64/libnvrtc.so.1[0-9]", "lib/libnvrtc.so.1[0-9]",
                        "targets/x86_64-linux/lib/libnvrtc.so.1[0-9]"):
            found = sorted(glob.glob(os.path.join(home, pattern)))
            if found:
                return found[-1]
    try:  # NVIDIA's package for Python
        import importlib.util
        spec = importlib.util.find_spec("nvidia")
        for place in (spec.submodule_search_locations or []) if spec else []:
            found = sorted(glob.glob(os.path.join(place, "*/lib/libnvrtc.so.1[0-9]")))
            if found:
                return found[-1]
    except (ImportError, ValueError):
        pass
    return ""


def _include_folders() -> List[str]:
    folders = []
    for home in cuda_homes():
        for below in ("include", "include/cccl", "targets/x86_64-linux/include",
                      "targets/x86_64-linux/include/cccl"):
            if os.path.isdir(os.path.join(home, below)):
                folders.append(os.path.join(home, below))
    return folders


def _by_nvrtc(library: str, text: str, name: str, options: Sequence[str], device: str) -> Compiled:
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None):
        raise CompileError("NVRTC could not be started")
    words = [f"--gpu-architecture={device.replace('sm_', 'compute_')}", "-lineinfo",
             # Of <math.h>, which nvcc includes.
             "-DINFINITY=__int_as_float(0x7f800000)", "-DNAN=__int_as_float(0x7fffffff)",
             *(f"-I{folder}" for folder in _include_folders()),
             f"-I{os.path.dirname(os.path.abspath(name))}", *options]
    status = nvrtc.nvrtcCompileProgram(
        program, len(words), (ctypes.c_char_p * len(words))(*[w.encode() for w in words]))
    size = ctypes.c_size_t()
    try:
        if status:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise CompileError(log.value.decode(errors="replace").strip())
        nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetPTX(program, ptx)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return Compiled(ptx.value.decode(), f"NVRTC {major.value}.{minor.value}")


def _by_nvcc(program: str, path: str, options: Sequence[str], device: str) -> Compiled:
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.ptx")
        done = subprocess.run(
            [program, "-ptx", "-lineinfo", f"-arch={device.replace('sm_', 'compute_')}", *options,
             "-o", out, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace")
        if done.returncode != 0:
            raise CompileError(done.stdout.strip())
        with open(out, encoding="utf-8") as file:
            return Compiled(file.read(), "nvcc")


def compile_ptx(source: str, options: Sequence[str] = (), device: str = "sm_90") -> Compiled:
    """PTX of a .cu or .ptx file, or of CUDA C++ given as text (it has a line break or a brace).

    device: PTX is made for its architecture. options: further options for the compiler.
    Raises CompileError, NoCompiler, and OSError for a file that cannot be read.
    """
    is_text = "\n" in source or "{" in source
    name = "source.cu" if is_text else source
    text = source
    if not is_text:
        with open(source, encoding="utf-8") as file:
            text = file.read()
        if source.endswith(".ptx"):
            return Compiled(text)
    library, program = _nvrtc_library(), nvcc()
    if library:
        try:
            return _by_nvrtc(library, text, name, options, device)
        except CompileError:
            # nvcc has headers of the host, such as <cuda_runtime.h> and <cmath>.
            if not program or "#include" not in text:
                raise
    if not program:
        raise NoCompiler("CUDA C++ needs NVRTC (libnvrtc.so, in CUDA's toolkit or pip's "
                         "nvidia-cuda-nvrtc) or nvcc; neither was found. PTX needs none")
    with tempfile.NamedTemporaryFile("w", suffix=".cu", encoding="utf-8") as file:
        if is_text:
            file.write(text)
            file.flush()
        return _by_nvcc(program, file.name if is_text else source, options, device)


def compile_host(path: str, out: str, device: str = "sm_90") -> str:
    """Compiles a .cu file with host code to a shared library with the shared CUDA runtime.

    Returns the PTX inside. Raises CompileError, NoCompiler.
    """
    program = nvcc()
    if not program:
        raise NoCompiler(f"{path} has host code, which needs nvcc; it was not found")
    virtual = device.replace("sm_", "compute_")
    done = subprocess.run(
        [program, "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "-lineinfo", "--keep",
         "--keep-dir", os.path.dirname(out), f"-gencode=arch={virtual},code={virtual}", "-o", out,
         path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise CompileError(done.stdout.strip())
    found = glob.glob(os.path.join(os.path.dirname(out), "*.ptx"))
    if not found:
        return ""
    with open(found[0], encoding="utf-8", errors="replace") as file:
        return file.read()
