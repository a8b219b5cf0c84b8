"""Candidates whose host code attacks the judge: (name, task, file, edits, code of the reason), as
in wrong.py.

Some return results that no kernel computed, after a launch that computes nothing. The others have a
race and hide its findings. Unless noted, all of them were accepted by an earlier judge, which
trusted the candidate's process.
"""

_CALL = "    _kernel[(n + 63) // 64, 64, 0, stream](x, y, n)"
_IMPORT = "import lockstep\n"
_RACE = [("  if (i < n)",
          "  __shared__ float s[128];\n  s[threadIdx.x] = 0;\n  __syncthreads();\n"
          "  s[threadIdx.x] = i;\n  if (s[blockDim.x - 1 - threadIdx.x] < 0) return;\n"
          "  if (i < n)")]
# The kernel computes nothing.
_IDLE = [("if (i < n) y[i]", "if (i < -n) y[i]")]

# The place in the simulated GPU's process of a device address, as simulator/memory/device_memory.h
# lays it out: the window's bytes, moved by the pages that a table says.
_ALIAS = '''
import ctypes, re
import numpy as np

def _alias(address):
    rows = [(int(a, 16), int(b, 16), p) for a, b, p in re.findall(
        r"^([0-9a-f]+)-([0-9a-f]+) (\\S+)", open("/proc/self/maps").read(), re.M)]
    start, end = next((a, b) for a, b, p in rows if a <= address < b)
    places = end - start + (16 << 20)
    alias = next(a for a, b, p in rows if p[:2] == "rw" and b - a == places)
    pages = ctypes.c_int32.from_address(0x2c0000000000 + (address - start >> 16) * 4).value
    return alias + address - start + pages * 4096

def _bytes(array):
    at = array.address
    return np.ctypeslib.as_array((ctypes.c_float * array.size).from_address(_alias(at)))

def _relu(v):
    return np.where(np.isnan(v), v, np.where(v > 0, v, 0)).astype("f4")
'''
_READS = [(_IMPORT, _IMPORT + _ALIAS)]

_HEAD = "#include <cuda_runtime.h>\n"
_HOST_ALIAS = r"""
#include <cstdint>
#include <cstdio>
static float* alias(const void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  unsigned long long size = 0, start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[4096], mode[8];
    unsigned long long a, b;
    while (std::fgets(line, sizeof line, maps)) {
      if (std::sscanf(line, "%llx-%llx %7s", &a, &b, mode) != 3) continue;
      if (pass == 0 && a <= at && at < b) size = b - a, start = a;
      if (pass == 1 && b - a == size + (16 << 20) && mode[0] == 'r' && mode[1] == 'w') {
        std::fclose(maps);
        const auto* const moves = reinterpret_cast<const int*>(0x2c0000000000);
        return reinterpret_cast<float*>(a + (at - start) + moves[(at - start) >> 16] * 4096ll);
      }
    }
    std::fclose(maps);
  }
  return nullptr;
}
"""

# The worker's object and its methods.
_WORKER = '''
import gc
gc.unfreeze()
_worker = next(o for o in gc.get_objects() if type(o).__name__ == "Worker")
_call = _worker.call
'''


def _worker(change):
    """Changes the worker's replies by `change(what, answer, back)`."""
    return [(_IMPORT, _IMPORT + _WORKER + change + '''
def _changed(what, blocks):
    answer, back = _call(what, blocks)
    change(what, answer, back)
    return answer, back
_worker.call = _changed
''')]


ATTACKS = [
    # Results that no kernel computed.
    ("the host writes into device memory", "axpy", "axpy_host.cu",
     [(_HEAD, _HEAD + _HOST_ALIAS), ("if (i < n) y[i]", "if (i < -n) y[i]"),
      ("  return cudaGetLastError();", "  float *from = alias(x), *to = alias(y);\n"
       "  for (int i = 0; i < n; ++i) to[i] = __builtin_fmaf(a, from[i], to[i]);\n"
       "  return cudaGetLastError();")], "host-results"),
    ("Python writes into device memory", "relu", "relu.py",
     _READS + _IDLE + [(_CALL, _CALL + "\n    _bytes(y)[:] = _relu(_bytes(x))")], "host-results"),
    ("results as parameters of a kernel", "relu", "relu.py",
     _READS + [
         ('extern "C"', 'struct Some { float v[512]; };\nextern "C"'),
         ("const float* x, float* y, int n", "Some s, float* y, int from, int n"),
         ("if (i < n) y[i] = x[i] > 0 || isnan(x[i]) ? x[i] : 0.0f",
          "if (i < n) y[from + i] = s.v[i]"),
         (_CALL, '''
    class Some(ctypes.Structure):
        _fields_ = [("v", ctypes.c_float * 512)]
    values = _relu(_bytes(x))
    for first in range(0, n, 512):
        part = values[first:first + 512]
        some = Some()
        some.v[:len(part)] = part
        _kernel[8, 64, 0, stream](some, y, first, len(part))''')], "host-results"),
    ("results in device code", "relu", "relu.py",
     _READS + [(_CALL, '''
    words = ",".join(str(w) for w in _relu(_bytes(x)).view("u4")) or "0"
    code = f""".version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 words[{max(n, 1)}] = {{{words}}};
.visible .entry give(.param .u64 y, .param .u32 n) {{
  .reg .b64 %d<5>; .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u64 %d1, [y]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r2, 64, %r3;
  setp.ge.s32 %p, %r4, %r1; @%p ret;
  mul.wide.s32 %d2, %r4, 4; mov.u64 %d3, words; add.s64 %d3, %d3, %d2;
  ld.global.u32 %r5, [%d3]; add.s64 %d4, %d1, %d2; st.global.u32 [%d4], %r5; ret; }}"""
    module = lockstep.device.Module(code)
    module.kernel("give")[(n + 63) // 64, 64, 0, stream](y, n)
    stream.synchronize()
    ctypes.CDLL("libcuda.so.1").cuModuleUnload(module.handle)''')],
     "host-results"),
    # Never accepted: an isolated candidate gets no pinned memory.
    ("results in pinned memory", "relu", "relu.py",
     _READS + [("y[i] = x[i] > 0 || isnan(x[i]) ? x[i] : 0.0f", "y[i] = x[i]"), (_CALL, '''
    driver, place = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    assert driver.cuMemHostAlloc(ctypes.byref(place), ctypes.c_size_t(4 * max(n, 1)), 0) == 0
    (ctypes.c_float * n).from_address(place.value)[:] = _relu(_bytes(x)).tolist()
    _kernel[(n + 63) // 64, 64, 0, stream](ctypes.c_uint64(place.value), y, n)
    stream.synchronize()
    driver.cuMemFreeHost(place)''')], "error"),
    ("it answers in the worker's place", "relu", "relu.py",
     _READS + [("def relu", '''
import socket, sys
from lockstep.frames import receive, send
_control = socket.socket(fileno=int(sys.argv[1]))
_said = {"error": "", "findings": [], "reading": [], "exchanged": [], "work": [], "before": [],
         "objects": 0, "kept": [], "counters": {}, "libraries": [], "library_calls": [],
         "operations": [{"kind": "kernel", "call": "cuLaunchKernel", "given": True}]}
send(_control, _said)
while True:
    what, blocks = receive(_control)
    if what["do"] == "end":
        send(_control, {"ptx": []})
        continue
    names = [a["name"] for a in what["arrays"] if not a["shares"]]
    back = [b for a, b in zip(what["arrays"], blocks) if not a["shares"]]
    back[-1] = _relu(np.frombuffer(back[0], "f4")).tobytes()
    send(_control, {**_said, "outputs": names, "addresses": {}}, back)


def relu''')], "no-kernel"),
    # State kept on the device. The first candidate was never accepted.
    ("the host's kernel counts its calls", "axpy", "axpy_host.cu",
     [("__global__", "__device__ int calls;\n__global__"),
      ("  if (i < n)", "  if (i == 0) ++calls;\n  if (i < n)")], "state-between-calls"),
    ("results that are kept for their inputs", "relu", "relu.py",
     [("int n) {", "int n, float* kept) {"),
      ("  if (i < n) y[i] =", "  if (i >= n) return;\n  const float v = x[i];\n"
       "  if (kept[2 * i] == v) { y[i] = kept[2 * i + 1]; return; }\n  kept[2 * i] = v;\n"
       "  y[i] = kept[2 * i + 1] ="),
      ("def relu", "_kept = lockstep.array(__import__('numpy').zeros(6000, 'f4'))\n\n\ndef relu"),
      ("(x, y, n)\n", "(x, y, n, _kept)\n")], "state-between-calls"),
    # Findings that are hidden.
    ("it finds the key of the seal", "relu", "relu.py",
     _RACE + [(_CALL, _CALL + '''
    import ctypes, sys
    stream.synchronize()
    frame, extension = sys._getframe(), ctypes.CDLL(None)
    while "key" not in frame.f_locals:
        frame = frame.f_back
        if frame is None:
            import gc
            frame = next(o.gi_frame for o in gc.get_objects()
                         if type(o).__name__ == "generator" and o.__name__ == "sealed")
    key = ctypes.c_uint64(frame.f_locals["key"])
    extension.lockstepUnseal(key)
    lockstep.take_findings()
    extension.lockstepSeal(key)''')], "race"),
    ("it waits for the seal to be opened", "relu", "relu.py",
     _RACE + [(_IMPORT, _IMPORT + '''
import ctypes, gc
def _collected(phase, info):
    seal = ctypes.CDLL(None).lockstepTakeFindings
    import sys
    frame = sys._getframe(1)
    if "operations" in frame.f_locals:
        seal()
gc.callbacks.append(_collected)
''')], "race"),
    ("it exchanges the worker's JSON", "relu", "relu.py",
     _RACE + [(_IMPORT, _IMPORT + '''
import json
_dumps = json.dumps
json.dumps = lambda what: _dumps({**what, "findings": []})
''')], "race"),
    ("it exchanges the worker's method", "relu", "relu.py",
     _RACE + _worker('''
def change(what, answer, back):
    answer["findings"] = []
'''), "race"),
    ("it writes over the simulated GPU's code", "axpy", "axpy_host.cu",
     _RACE +
     [(_HEAD, _HEAD + "#include <dlfcn.h>\n#include <sys/mman.h>\n#include <cstring>\n"
       "#include <cstdint>\n"),
      ("  return cudaGetLastError();", '''
  char* code = (char*)dlsym(RTLD_DEFAULT, "lockstepTakeFindings");
  void* page = (void*)((uintptr_t)code & ~(uintptr_t)4095);
  mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  memcpy(code, "\\x31\\xc0\\xc3", 3);  // xor eax, eax; ret
  return cudaGetLastError();''')], "race"),
    # Never accepted: settings are read at the start of the process.
    ("it changes the environment", "relu", "relu.py",
     _RACE + [(_IMPORT, "import os\nos.environ['LOCKSTEP_CHECKS'] = 'none'\n"
               "os.environ['LOCKSTEP_QUIET'] = '1'\n" + _IMPORT)], "race"),
    # Attacks on the transcript, which that judge did not have.
    ("results in a forged transcript", "relu", "relu.py",
     _READS + _IDLE + _worker('''
def change(what, answer, back):
    y = next(i for i, a in enumerate(what["arrays"]) if a["name"] == "y")
    name = what["arrays"][y]["shares"] or what["arrays"][y]["name"]
    at = answer["addresses"][name] + what["arrays"][y]["offset"]
    data = _relu(np.frombuffer(back[0], "f4")).tobytes()
    answer["work"].append({"do": "write", "to": [at, len(data), len(data)],
                           "shape": [len(data), 1, 1], "bytes": data.hex()})
'''), "copy"),
    ("launches that are left out", "relu", "relu.py",
     _RACE + _worker('''
def change(what, answer, back):
    answer["work"] = [e for e in answer["work"] if e["do"] != "launch"]
    answer["findings"] = []
'''), "no-kernel"),
    ("an answer that is none", "relu", "relu.py",
     _worker('''
def change(what, answer, back):
    answer["work"] = answer["findings"] = 5
'''), "tampering"),
    ("text that is none", "relu", "relu.py",
     _worker('''
def change(what, answer, back):
    answer["error"] = chr(0xd800)
'''), "tampering"),
    ("brackets without end", "relu", "relu.py",
     _worker('''
import os, struct, sys
def change(what, answer, back):
    text = b"[" * 200000
    os.write(int(sys.argv[1]), struct.pack("<II", len(text), 0) + text)
'''), "tampering"),
    ("a transcript that is none", "relu", "relu.py",
     _worker('''
def change(what, answer, back):
    answer["work"] = [{"do": "launch", "module": "x"}, {"texts": 7}]
'''), "error"),
]
