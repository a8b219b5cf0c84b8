"""Wrong and cheating candidates: (name, task, file, edits, code of the reason).

An edit replaces the first occurrence of a text in a right candidate. The code is that of the
verdict's first reason.
"""

_HOST_CALL = "  add<<<(n + 127) / 128, 128, 0, stream>>>(a, x, y, n);\n"
_HEAD = "#include <cuda_runtime.h>\n"
_PYTHON_CALL = "    _kernel[(n + 63) // 64, 64, 0, stream](x, y, n)"
_GUARD = "  if (threadIdx.x == 0) *out = part[0];"


def _before(code, includes=""):
    """An edit that inserts code before the launch of axpy_host.cu."""
    return [(_HEAD, _HEAD + includes), (_HOST_CALL, code + _HOST_CALL)]


_RACE = [("  if (i < n)", "  __shared__ float s[64];\n  s[threadIdx.x] = i;\n"
          "  if (s[63 - threadIdx.x] < 0) return;\n  if (i < n)")]

# The kernel returns the previous call's result and keeps its own.
_LAST = [("def relu", "_last = lockstep.array(__import__('numpy').zeros(3000, 'f4'))\n"
       "_swap = lockstep.compile('''extern \"C\" __global__ void swap(const float* x, float* y, \n"
       "float* last, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {\n"
       "y[i] = last[i]; last[i] = x[i] > 0 || isnan(x[i]) ? x[i] : 0.0f; } }''').kernel('swap')"
       "\n\n\ndef relu"),
      (_PYTHON_CALL, "    _swap[(n + 63) // 64, 64, 0, stream](x, y, _last, n)")]

WRONG = [
    # Wrong results.
    ("no maximum is taken out", "softmax", "softmax.cu",
     [("fmaxf(most, in[i])", "fmaxf(0, -90.f)")], "nan"),
    ("the sum is forgotten", "softmax", "softmax.cu", [(" / sum;", ";")], "wrong-result"),
    ("the scalar is ignored", "axpy", "axpy.cu", [("a * x[i]", "2 * x[i]")], "wrong-result"),
    ("an element too few", "total", "total.cu", [("i < n; i", "i < n - 1; i")],
     "wrong-result"),
    ("NaN becomes 0", "relu", "relu.cu",
     [("x[i] > 0 || isnan(x[i]) ? x[i] : 0.0f", "fmaxf(x[i], 0.0f)")], "nan"),
    ("the neighbour's row", "transpose", "transpose_plain.cu", [("r * stride", "r * columns")],
     "nan"),
    ("always the same result", "relu", "relu.cu",
     [("x[i] > 0 || isnan(x[i]) ? x[i] : 0.0f", "i % 3")], "ignores-inputs"),
    # Precision.
    ("sums in half", "matmul", "matmul_plain.cu",
     [("extern", "#include <cuda_fp16.h>\nextern"),
      ("c[r * columns + q] = static_cast<float>(sum)",
       "c[r * columns + q] = __half2float(__float2half(float(sum)))")], "precision"),
    ("operands of 16 bits", "axpy", "axpy.cu",
     [("a * x[i]", "a * __int_as_float(__float_as_int(x[i]) & 0xffff0000)")], "precision"),
    ("a division of few bits", "softmax", "softmax_online.cu",
     [("static_cast<float>(exp(x[row * columns + i] - most) / sum)",
       "__int_as_float(__float_as_int(float(exp(x[row * columns + i] - most) / sum)) & "
       "0xfffff000)")], "precision"),
    # Shapes.
    ("256 columns are enough", "softmax", "softmax.cu",
     [("i < columns; i += 128) out", "i < min(columns, 256); i += 128) out")], "unwritten-output"),
    ("a grid of four blocks", "relu", "relu.cu", [("extern", "// lockstep: grid=4\nextern")],
     "unwritten-output"),
    ("square matrices", "transpose", "transpose_plain.cu", [("(rows + 3)", "(columns + 3)")],
     "out-of-bounds"),
    ("multiples of the block", "axpy", "axpy.cu", [("if (i < n) ", "")], "out-of-bounds"),
    ("off by one", "total", "total.cu", [("i < n; i", "i <= n; i")], "out-of-bounds"),
    ("tiles past the edge", "matmul", "matmul.cu", [("r < rows && ka < inner ?", "r < rows ?")],
     "out-of-bounds"),
    # Mistakes that only the simulated GPU detects.
    ("a barrier is missing", "softmax", "softmax.cu",
     [("part[threadIdx.x] = sum;\n  __syncthreads();", "part[threadIdx.x] = sum;")], "race"),
    ("the second barrier of a tile", "matmul", "matmul.cu",
     [("right[t][threadIdx.x];\n    __syncthreads();", "right[t][threadIdx.x];")], "race"),
    ("blocks add without atomics", "total", "total.cu",
     [("extern", "// lockstep: grid=2\nextern"), ("i = threadIdx.x; i < n; i += 256",
       "i = 256 * blockIdx.x + threadIdx.x; i < n; i += 512"),
      ("*out = part[0]", "*out = blockIdx.x ? *out + part[0] : part[0]")], "race"),
    ("unwritten shared memory", "total", "total_warps.cu",
     [("  if (threadIdx.x == 0) all = 0;\n", "")], "uninitialised"),
    ("the result is not cleared", "total", "total_host.cu",
     [("cudaMemsetAsync(out, 0, sizeof *out, stream)", "cudaSuccess")], "uninitialised"),
    ("between the rows", "transpose", "transpose_plain.cu",
     [("r < rows; r", "r < rows + 2 * (c + 1 < columns); r"),
      ("x[r * stride", "x[min(r, rows - 1) * stride")],
     "wrote-outside"),
    ("an input is scratch", "relu", "relu.cu",
     [("const float* x", "float* x"), ("0.0f;", "0.0f, x[i] = 0;")], "input-changed"),
    ("it waits for nobody", "relu", "relu.cu",
     [("  if (i < n)", "  while (n > 0) __nanosleep(10);\n  if (i < n)")], "deadlock"),
    ("it never ends", "relu", "relu.cu",
     [("  if (i < n)", "  for (float k = 0; i < n; ++k) *(volatile float*)(y + i) = k;\n"
       "  if (i < n)")], "time"),
    ("other bits under another schedule", "same_total", "total_warps.cu", [], "nondeterministic"),
    # State.
    ("it counts its calls", "axpy", "axpy.cu",
     [("extern", "__device__ int calls;\nextern"),
      ("  if (i < n)", "  if (i == 0) ++calls;\n  if (i < n)")],
     "state-between-calls"),
    ("the counter is not reset", "total", "total_last_block.cu", [("  done = 0;\n", "")],
     "state-between-calls"),
    ("memory is kept", "axpy", "axpy_host.cu",
     _before("  void* kept;\n  cudaMalloc(&kept, 64);\n"), "state-between-calls"),
    ("a result is kept for its address", "relu", "relu.py",
     [("def relu", "_done = set()\n\n\ndef relu"),
      (_PYTHON_CALL, "    if x.address in _done:\n        return\n    _done.add(x.address)\n" +
       _PYTHON_CALL)], "no-kernel"),
    ("the result of the call before", "relu", "relu.py", _LAST, "state-between-calls"),
    ("the result of the call before, not replayed", "relu_by_library", "relu.py", _LAST,
     "stale-output"),
    # Streams, copies, libraries.
    ("the default stream", "axpy", "axpy_host.cu", [("128, 0, stream>>>", "128>>>")],
     "other-stream"),
    ("a stream of its own", "axpy", "axpy_host.cu",
     [(_HOST_CALL, "  cudaStream_t mine;\n  cudaStreamCreateWithFlags(&mine, 1);\n"
       "  add<<<(n + 127) / 128, 128, 0, mine>>>(a, x, y, n);\n  cudaStreamDestroy(mine);\n")],
     "other-stream"),
    ("the host computes", "relu", "relu.py",
     [(_PYTHON_CALL, "    import numpy\n    v = x.numpy()\n"
       "    y.memory.write(numpy.where(v > 0, v, 0 * v).astype('f4').tobytes(), y.offset)")],
     "no-kernel"),
    ("a copy for a kernel's result", "relu", "relu.py",
     [(_PYTHON_CALL, "    data = x.numpy()\n" + _PYTHON_CALL)], "other-stream"),
    ("a copy into the result", "axpy", "axpy_host.cu",
     [(_HOST_CALL, "  float* made;\n  cudaMallocAsync((void**)&made, 4 * n, stream);\n"
       "  cudaMemcpyAsync(made, y, 4 * n, cudaMemcpyDeviceToDevice, stream);\n" +
       _HOST_CALL.replace("x, y, n", "x, made, n") +
       "  cudaMemcpyAsync(y, made, 4 * n, cudaMemcpyDeviceToDevice, stream);\n"
       "  cudaFreeAsync(made, stream);\n")], "copy"),
    ("a library of machine code", "axpy", "axpy_host.cu",
     [(_HEAD, _HEAD + "extern \"C\" int cusolverDnCreate(void**);\n"),
      (_HOST_CALL, "  void* handle;\n  cusolverDnCreate(&handle);\n" + _HOST_CALL)], "library"),
    ("cuBLAS, where the task allows no library", "axpy", "axpy_cublas.cu", [], "library"),
    ("cuBLAS, one element too few", "axpy_by_library", "axpy_cublas.cu",
     [("(handle, n, &a", "(handle, n - (n > 1), &a")], "wrong-result"),
    ("cuBLAS in the default stream", "axpy_by_library", "axpy_cublas.cu",
     [("(handle, stream)", "(handle, nullptr)")], "other-stream"),
    # Use of the operating system.
    ("it writes a file", "axpy", "axpy_host.cu",
     _before("  if (FILE* f = fopen(\"/tmp/kept\", \"w\")) fclose(f);\n", "#include <cstdio>\n"),
     "forbidden-call"),
    ("it opens a socket", "axpy", "axpy_host.cu",
     _before("  socket(AF_INET, SOCK_STREAM, 0);\n", "#include <sys/socket.h>\n"),
     "forbidden-call"),
    ("it starts a process", "relu", "relu.py",
     [(_PYTHON_CALL, "    __import__('os').system('true')\n" + _PYTHON_CALL)], "forbidden-call"),
    ("it reads another process", "relu", "relu.py",
     [(_PYTHON_CALL, "    import ctypes\n    ctypes.CDLL(None).process_vm_readv(1, None, 0, None, "
       "0, 0)\n" + _PYTHON_CALL)], "forbidden-call"),
    ("it reads the reference", "relu", "relu.py",
     [("import lockstep\n", "import lockstep\nopen('@TASK@').read()\n")], "reads-the-task"),
    # Attacks on the judge itself. Each has a race that the attack would hide.
    ("it takes the findings", "relu", "relu.py",
     _RACE + [(_PYTHON_CALL, _PYTHON_CALL + "\n    lockstep.take_findings()")], "tampering"),
    ("it turns the checks off", "relu", "relu.py",
     _RACE + [("_kernel = ", "import ctypes\nctypes.CDLL(None).lockstepSetChecks(0)\n_kernel = ")],
     "tampering"),
    ("the host turns the checks off", "axpy", "axpy_host.cu",
     [("  if (i < n)", "  __shared__ float s[128];\n  s[threadIdx.x] = i;\n"
       "  if (s[127 - threadIdx.x] < 0) return;\n  if (i < n)")] +
     _before("  ((unsigned (*)(unsigned))dlsym(RTLD_DEFAULT, \"lockstepSetChecks\"))(0);\n",
             "#include <dlfcn.h>\n"), "tampering"),
    ("it hides its operations", "relu", "relu.py",
     [(_PYTHON_CALL, "    import ctypes\n    ctypes.CDLL(None).lockstepWatchOperations(0)\n" +
       _PYTHON_CALL)], "tampering"),
    ("it exchanges the worker's code", "relu", "relu.py",
     _RACE + [("import lockstep\n", "import lockstep.session\n"
               "lockstep.session.take_raw_findings = lambda wait=True: []\n")], "tampering"),
    ("it exchanges a method", "relu", "relu.py",
     [("import lockstep\n", "import lockstep.device\n"
       "_read = lockstep.device.Memory.read\n"
       "lockstep.device.Memory.read = lambda *a: _read(*a)\n")], "tampering"),
    ("it looks for the key", "relu", "relu.py",
     _RACE + [(_PYTHON_CALL, _PYTHON_CALL + "\n    import ctypes\n"
               "    ctypes.CDLL(None).lockstepUnseal(ctypes.c_uint64(1))\n"
               "    lockstep.take_findings()")], "tampering"),
    ("the host sleeps", "relu", "relu.py", [(_PYTHON_CALL, "    __import__('time').sleep(3600)")],
     "time"),
    ("it allocates without end", "relu", "relu.py",
     [(_PYTHON_CALL, "    held = [bytes(1 << 28) for _ in range(64)]\n" + _PYTHON_CALL)], "error"),
    ("it crashes", "axpy", "axpy_host.cu", _before("  abort();\n", "#include <cstdlib>\n"),
     "crash"),
    ("it returns an error", "axpy", "axpy_host.cu",
     [("return cudaGetLastError();", "return cudaErrorUnknown;")], "error"),
    # Attacks that fail even earlier.
    ("it does not compile", "axpy", "axpy.cu", [("const int i", "const it i")], "compile"),
    ("another kernel", "axpy", "axpy.cu", [("void axpy", "void axpby")], "load"),
    ("an exception at its import", "relu", "relu.py", [("import lockstep\n", "import lockstp\n")],
     "load"),
]
