// Contexts: the current one, others, and calls without any.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_context {

const char* name_of(Rig& rig, CUcontext context) {
  return context == nullptr ? "null" : context == rig.context() ? "primary" : "another";
}

void answer_current(Rig& rig) {
  CUcontext now = nullptr;
  const CUresult result = DRIVER(cuCtxGetCurrent)(&now);
  rig.answer("cuCtxGetCurrent()", result, name_of(rig, now));
}

void ask(Rig& rig) {
  switch (rig.random.below(8)) {
    case 0: return answer_current(rig);
    case 1: {
      CUdevice d = -1;
      const CUresult result = DRIVER(cuCtxGetDevice)(&d);
      return rig.answer("cuCtxGetDevice()", result, text("%d", d));
    }
    case 2: {
      unsigned flags = 0;
      const CUresult result = DRIVER(cuCtxGetFlags)(&flags);
      return rig.answer("cuCtxGetFlags()", result, text("%#x", flags));
    }
    case 3: {
      unsigned version = 0;
      CUcontext c = rig.random.chance(50) ? rig.context() : nullptr;
      const CUresult result = DRIVER(cuCtxGetApiVersion)(c, &version);
      return rig.answer(text("cuCtxGetApiVersion(%s)", c == nullptr ? "null" : "primary"), result,
                        text("%u", version));
    }
    case 4: {
      const int which = rig.random.of({0, 1, 2, 3, 4, 5, 6, 7, 8, 99});
      std::size_t value = 0;
      const CUresult result = DRIVER(cuCtxGetLimit)(&value, static_cast<CUlimit>(which));
      return rig.answer(text("cuCtxGetLimit(%d)", which), result);
    }
    case 5: {
      int least = 0, greatest = 0;
      const CUresult result = DRIVER(cuCtxGetStreamPriorityRange)(&least, &greatest);
      return rig.answer("cuCtxGetStreamPriorityRange()", result, text("%d %d", least, greatest));
    }
    case 6: {
      CUfunc_cache config = CU_FUNC_CACHE_PREFER_NONE;
      const CUresult result = DRIVER(cuCtxGetCacheConfig)(&config);
      return rig.answer("cuCtxGetCacheConfig()", result, text("%d", config));
    }
    default: {
      unsigned flags = 99;
      int active = -1;
      const int device = rig.random.of({0, 0, 99});
      const CUresult result = DRIVER(cuDevicePrimaryCtxGetState)(device, &flags, &active);
      return rig.answer(text("cuDevicePrimaryCtxGetState(%d)", device), result,
                        text("%#x %d", flags, active));
    }
  }
}

void set(Rig& rig) {
  switch (rig.random.below(4)) {
    case 0: {
      const int which = rig.random.of({0, 1, 2, 3, 4, 5, 6, 7, 99});
      const std::size_t value =
          rig.random.of({std::size_t{0}, std::size_t{1024}, std::size_t{1} << 20});
      // Larger stacks and heaps take effect only before they are used.
      if (which <= 4 && value == std::size_t{1} << 20) return;
      return rig.answer(text("cuCtxSetLimit(%d, %zu)", which, value),
                        DRIVER(cuCtxSetLimit)(static_cast<CUlimit>(which), value));
    }
    case 1: {
      const int config = rig.random.of({0, 1, 4, 99});  // no preference for less shared memory
      return rig.answer(text("cuCtxSetCacheConfig(%d)", config),
                        DRIVER(cuCtxSetCacheConfig)(static_cast<CUfunc_cache>(config)));
    }
    case 2: {
      const unsigned flags = rig.random.of({0u, 1u, 2u, 3u, 4u, 8u, 16u, 32u, 0x80u, 0x1000u});
      return rig.answer(text("cuCtxSetFlags(%#x)", flags), DRIVER(cuCtxSetFlags)(flags));
    }
    default:
      return rig.answer("cuCtxResetPersistingL2Cache()", DRIVER(cuCtxResetPersistingL2Cache)());
  }
}

// The stack of contexts, balanced within the call.
void push_and_pop(Rig& rig) {
  CUcontext popped = nullptr;
  CUresult result = CUDA_SUCCESS;
  switch (rig.random.below(4)) {
    case 0: rig.answer("cuCtxPushCurrent(null)", DRIVER(cuCtxPushCurrent)(nullptr)); break;
    case 1:
      rig.answer("cuCtxPushCurrent(primary)", DRIVER(cuCtxPushCurrent)(rig.context()));
      result = DRIVER(cuCtxPopCurrent)(&popped);
      rig.answer("cuCtxPopCurrent()", result, name_of(rig, popped));
      break;
    case 2:
      result = DRIVER(cuCtxPopCurrent)(&popped);
      rig.answer("cuCtxPopCurrent()", result, name_of(rig, popped));
      answer_current(rig);
      rig.answer("cuCtxPopCurrent()", DRIVER(cuCtxPopCurrent)(&popped));
      break;
    default: rig.answer("cuCtxSynchronize()", DRIVER(cuCtxSynchronize)());
  }
  DRIVER(cuCtxSetCurrent)(rig.context());
}

// A context of its own, with what belongs to it.
void other_context(Rig& rig) {
  const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 4u, 8u, 16u, 0x100u});
  const int device = rig.random.of({0, 0, 0, 99, -1});
  CUcontext c = nullptr;
  const CUresult created = DRIVER(cuCtxCreate)(&c, nullptr, flags, device);
  rig.answer(text("cuCtxCreate(&other, null, %#x, %d)", flags, device), created);
  if (created != CUDA_SUCCESS) return;
  answer_current(rig);
  unsigned is = 0;
  const CUresult asked = DRIVER(cuCtxGetFlags)(&is);
  rig.answer("cuCtxGetFlags()", asked, text("%#x", is));
  CUdeviceptr p = 0;
  rig.answer("cuMemAlloc(&p, 64)", DRIVER(cuMemAlloc)(&p, 64));
  rig.answer("cuMemcpyDtoD(p, constants, 64)", DRIVER(cuMemcpyDtoD)(p, rig.constants(), 64));
  if (rig.random.chance(50)) {  // objects of the primary context
    const auto stream = rig.stream();
    if (stream.it != nullptr && stream.it != CU_STREAM_LEGACY &&
        stream.it != CU_STREAM_PER_THREAD) {
      rig.answer(text("cuMemsetD8Async(p, 1, 64, %s)", stream.name.c_str()),
                 DRIVER(cuMemsetD8Async)(p, 1, 64, stream.it));
      rig.answer(text("cuStreamSynchronize(%s)", stream.name.c_str()),
                 DRIVER(cuStreamSynchronize)(stream.it));
      CUcontext of = nullptr;
      const CUresult result = DRIVER(cuStreamGetCtx)(stream.it, &of);
      rig.answer(text("cuStreamGetCtx(%s)", stream.name.c_str()), result, name_of(rig, of));
    }
    unsigned value = 7;
    CUdeviceptr slot = rig.slot();
    void* arguments[] = {&slot, &value};
    rig.answer(text("cuLaunchKernel(add, %s)", rig.slot_name().c_str()),
               DRIVER(cuLaunchKernel)(rig.own_code().functions.front().it, 1, 1, 1, 32, 1, 1, 0,
                                      nullptr, arguments, nullptr));
  }
  if (rig.random.chance(30)) {
    CUcontext of = nullptr;
    const CUresult result = DRIVER(cuPointerGetAttribute)(&of, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    rig.answer("cuPointerGetAttribute(context of p)", result, of == c ? "other" : "another");
  }
  if (rig.random.chance(50)) rig.answer("cuMemFree(p)", DRIVER(cuMemFree)(p));
  rig.answer("cuCtxSynchronize()", DRIVER(cuCtxSynchronize)());
  rig.answer("cuCtxDestroy(other)", DRIVER(cuCtxDestroy)(c));
  answer_current(rig);
  DRIVER(cuCtxSetCurrent)(rig.context());
}

// What a function or module is asked while no context is current.
void function_without_context(Rig& rig) {
  const CUfunction f = rig.own_code().functions.front().it;
  const CUmodule m = rig.own_code().module;
  std::size_t offset = 0, bytes = 0;
  unsigned count = 0;
  CUdeviceptr at = 0;
  switch (rig.random.below(7)) {
    case 0: {
      const char* name = nullptr;
      return rig.answer("none: cuFuncGetName", DRIVER(cuFuncGetName)(&name, f));
    }
    case 1: {
      CUmodule of = nullptr;
      return rig.answer("none: cuFuncGetModule", DRIVER(cuFuncGetModule)(&of, f));
    }
    case 2:
      return rig.answer("none: cuFuncGetParamInfo",
                        DRIVER(cuFuncGetParamInfo)(f, 0, &offset, &bytes));
    case 3:
      return rig.answer(
          "none: cuFuncSetAttribute",
          DRIVER(cuFuncSetAttribute)(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    case 4:
      return rig.answer("none: cuFuncSetCacheConfig",
                        DRIVER(cuFuncSetCacheConfig)(f, CU_FUNC_CACHE_PREFER_NONE));
    case 5:
      return rig.answer("none: cuModuleGetGlobal",
                        DRIVER(cuModuleGetGlobal)(&at, &bytes, m, "factor"));
    default:
      return rig.answer("none: cuModuleGetFunctionCount",
                        DRIVER(cuModuleGetFunctionCount)(&count, m));
  }
}

// The same for a stream and an event, which belong to a context.
void stream_without_context(Rig& rig, CUstream stream, CUevent event) {
  unsigned flags = 0;
  int priority = 0;
  const CUdeviceptr slot = rig.slot();
  switch (rig.random.below(15)) {
    case 0: return rig.answer("none: cuStreamGetFlags", DRIVER(cuStreamGetFlags)(stream, &flags));
    case 1:
      return rig.answer("none: cuStreamGetPriority",
                        DRIVER(cuStreamGetPriority)(stream, &priority));
    case 2: return rig.answer("none: cuEventRecord", DRIVER(cuEventRecord)(event, stream));
    case 3:
      return rig.answer("none: cuStreamWaitEvent", DRIVER(cuStreamWaitEvent)(stream, event, 0));
    case 4:
      return rig.answer("none: cuMemsetD8Async",
                        DRIVER(cuMemsetD8Async)(slot, 3, kSlotBytes, stream));
    case 5:
      return rig.answer("none: cuMemcpyAsync",
                        DRIVER(cuMemcpyAsync)(slot, rig.constants(), kSlotBytes, stream));
    case 6: {
      unsigned value = 5;
      CUdeviceptr to = slot;
      void* arguments[] = {&to, &value};
      return rig.answer("none: cuLaunchKernel in a stream",
                        DRIVER(cuLaunchKernel)(rig.own_code().functions.front().it, 1, 1, 1, 32, 1,
                                               1, 0, stream, arguments, nullptr));
    }
    case 7: {
      CUcontext of = nullptr;
      const CUresult result = DRIVER(cuStreamGetCtx)(stream, &of);
      return rig.answer("none: cuStreamGetCtx", result, name_of(rig, of));
    }
    case 8:
      return rig.answer("none: cuStreamWriteValue32",
                        DRIVER(cuStreamWriteValue32)(stream, slot, 3, 0));
    case 9: {
      CUdeviceptr at = 0;
      return rig.answer("none: cuMemAllocAsync", DRIVER(cuMemAllocAsync)(&at, 4, stream));
    }
    case 10: return rig.answer("none: cuEventQuery", DRIVER(cuEventQuery)(event));
    case 11: return rig.answer("none: cuStreamQuery", DRIVER(cuStreamQuery)(stream));
    case 12: return rig.answer("none: cuStreamSynchronize", DRIVER(cuStreamSynchronize)(stream));
    case 13:
      return rig.answer("none: cuLaunchHostFunc",
                        DRIVER(cuLaunchHostFunc)(stream, count, &rig.host_calls));
    default: {
      auto status = CU_STREAM_CAPTURE_STATUS_NONE;
      return rig.answer("none: cuStreamIsCapturing", DRIVER(cuStreamIsCapturing)(stream, &status));
    }
  }
}

// With a stream and an event of its own.
void stream_without_context(Rig& rig) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  if (DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
      DRIVER(cuEventCreate)(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
      DRIVER(cuCtxSetCurrent)(nullptr) != CUDA_SUCCESS)
    return;
  stream_without_context(rig, stream, event);
  DRIVER(cuCtxSetCurrent)(rig.context());
  DRIVER(cuStreamSynchronize)(stream);
  DRIVER(cuEventDestroy)(event);
  DRIVER(cuStreamDestroy)(stream);
}

void call_without_context(Rig& rig) {
  CUdeviceptr p = 0;
  void* host = nullptr;
  std::size_t bytes = 0, more = 0;
  int number = 0;
  unsigned flags = 0;
  CUresult result = CUDA_SUCCESS;
  switch (rig.random.below(27)) {
    case 0: rig.answer("none: cuMemAlloc", DRIVER(cuMemAlloc)(&p, 4)); break;
    case 1: rig.answer("none: cuMemAllocHost", DRIVER(cuMemAllocHost)(&host, 4)); break;
    case 2: rig.answer("none: cuMemFree(0)", DRIVER(cuMemFree)(0)); break;
    case 3: rig.answer("none: cuMemGetInfo", DRIVER(cuMemGetInfo)(&bytes, &more)); break;
    case 4: rig.answer("none: cuCtxSynchronize", DRIVER(cuCtxSynchronize)()); break;
    case 5: rig.answer("none: cuCtxGetDevice", DRIVER(cuCtxGetDevice)(&number)); break;
    case 6: rig.answer("none: cuCtxGetFlags", DRIVER(cuCtxGetFlags)(&flags)); break;
    case 7: {
      CUstream s = nullptr;
      rig.answer("none: cuStreamCreate", DRIVER(cuStreamCreate)(&s, 0));
      break;
    }
    case 8: {
      CUevent e = nullptr;
      rig.answer("none: cuEventCreate", DRIVER(cuEventCreate)(&e, 0));
      break;
    }
    case 9: {
      CUmodule m = nullptr;
      rig.answer("none: cuModuleLoadData", DRIVER(cuModuleLoadData)(&m, kPtx));
      break;
    }
    case 10: {
      CUlibrary l = nullptr;
      result = DRIVER(cuLibraryLoadData)(&l, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0);
      rig.answer("none: cuLibraryLoadData", result);
      if (result == CUDA_SUCCESS) rig.answer("none: cuLibraryUnload", DRIVER(cuLibraryUnload)(l));
      break;
    }
    case 11: {
      unsigned value = 7;
      CUdeviceptr slot = rig.slot();
      void* arguments[] = {&slot, &value};
      rig.answer("none: cuLaunchKernel",
                 DRIVER(cuLaunchKernel)(rig.own_code().functions.front().it, 1, 1, 1, 32, 1, 1, 0,
                                        nullptr, arguments, nullptr));
      break;
    }
    case 12: rig.answer("none: cuMemsetD8", DRIVER(cuMemsetD8)(rig.slot(), 1, kSlotBytes)); break;
    case 13: {
      unsigned word = 0;
      rig.answer("none: cuMemcpyDtoH", DRIVER(cuMemcpyDtoH)(&word, rig.constants(), 4));
      break;
    }
    case 14: {
      int type = 0;
      result =
          DRIVER(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, rig.constants());
      rig.answer("none: cuPointerGetAttribute", result, text("%d", type));
      break;
    }
    case 15: {
      const auto s = rig.pick(rig.streams);
      if (s == nullptr) break;
      rig.answer(text("none: cuStreamSynchronize(%s)", s->name.c_str()),
                 DRIVER(cuStreamSynchronize)(s->it));
      break;
    }
    case 16:
      rig.answer("none: cuStreamSynchronize(0)", DRIVER(cuStreamSynchronize)(nullptr));
      break;
    case 17: {
      int blocks = 0;
      result = DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)(
          &blocks, rig.own_code().functions.front().it, 64, 0);
      rig.answer("none: cuOccupancyMaxActiveBlocksPerMultiprocessor", result, text("%d", blocks));
      break;
    }
    case 18:
      result = DRIVER(cuFuncGetAttribute)(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                          rig.own_code().functions.front().it);
      rig.answer("none: cuFuncGetAttribute", result, text("%d", number));
      break;
    case 19: {
      CUfunction f = nullptr;
      rig.answer("none: cuModuleGetFunction",
                 DRIVER(cuModuleGetFunction)(&f, rig.own_code().module, "add"));
      break;
    }
    case 20: {
      CUgraph g = nullptr;
      result = DRIVER(cuGraphCreate)(&g, 0);
      rig.answer("none: cuGraphCreate", result);
      if (result == CUDA_SUCCESS) rig.answer("none: cuGraphDestroy", DRIVER(cuGraphDestroy)(g));
      break;
    }
    case 21: {
      const auto e = rig.pick(rig.events);
      if (e == nullptr) break;
      rig.answer(text("none: cuEventSynchronize(%s)", e->name.c_str()),
                 DRIVER(cuEventSynchronize)(e->it));
      break;
    }
    case 22: rig.answer("none: cuMemAllocManaged", DRIVER(cuMemAllocManaged)(&p, 4, 1)); break;
    case 23: rig.answer("none: cuMemAllocAsync(0)", DRIVER(cuMemAllocAsync)(&p, 4, nullptr)); break;
    case 24:
      rig.answer("none: cuCtxGetLimit", DRIVER(cuCtxGetLimit)(&bytes, CU_LIMIT_STACK_SIZE));
      break;
    case 25: return function_without_context(rig);
    default: {
      int least = 0, greatest = 0;
      rig.answer("none: cuCtxGetStreamPriorityRange",
                 DRIVER(cuCtxGetStreamPriorityRange)(&least, &greatest));
    }
  }
}

void without_context(Rig& rig) {
  if (DRIVER(cuCtxSetCurrent)(nullptr) != CUDA_SUCCESS) return;
  call_without_context(rig);
  DRIVER(cuCtxSetCurrent)(rig.context());
}

}  // namespace in_context

std::vector<Call<Rig>> context_calls() {
  using namespace in_context;
  return {{5, ask},
          {2, set},
          {3, push_and_pop},
          {2, other_context},
          {8, without_context},
          {3, stream_without_context}};
}

}  // namespace lockstep::calls::driver
