// Calls that allocate, free, wait, query, create and destroy.
#include <cstdlib>
#include <utility>

#include "calls.h"

namespace lockstep::streams {
namespace {

void CUDART_CB nothing(void*) {}

__device__ int counter;
__global__ void empty() {}
// Each kernel is loaded at its first use.
template <int kNumber>
__global__ void fresh(int* x) {
  if (x != nullptr) *x = kNumber;
}
using Kernel = void (*)(int*);
template <int... kNumbers>
Kernel next_of(std::integer_sequence<int, kNumbers...>) {
  static const Kernel all[] = {fresh<kNumbers>...};
  static size_t next = 0;
  return all[next++ % sizeof...(kNumbers)];
}
// A kernel not used before, for up to 64 calls.
Kernel fresh_kernel() { return next_of(std::make_integer_sequence<int, 64>()); }

// An executable graph of one empty node.
cudaGraphExec_t small_graph() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t executable;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
  cudaGraphInstantiate(&executable, graph, 0);
  return executable;
}

cudaTextureObject_t texture(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  cudaTextureObject_t object = 0;
  cudaCreateTextureObject(&object, &resource, &description, nullptr);
  return object;
}

cudaMemLocation on_device() {
  cudaMemLocation here = {};
  here.type = cudaMemLocationTypeDevice;
  return here;
}

void* memory(size_t bytes) {
  return made([=](void** p) { cudaMalloc(p, bytes); });
}
void* pool_memory(cudaStream_t stream) {
  void* p = made([=](void** q) { cudaMallocAsync(q, kSmall, stream); });
  cudaStreamSynchronize(stream);
  return p;
}

}  // namespace

std::vector<Call> other_calls() {
  return {
    CALL("nothing", ), CALL("cudaMalloc, 256 B", void* p; cudaMalloc(&p, kSmall)),
        CALL("cudaMalloc, 64 MiB", void* p; cudaMalloc(&p, 64 << 20)),
        CALL("cudaMallocPitch", void* p; size_t n; cudaMallocPitch(&p, &n, 100, 4)),
        CALL("cudaMallocArray", cudaArray_t p; const auto f = cudaCreateChannelDesc<int>();
             cudaMallocArray(&p, &f, 16, 4)),
        CALL("cudaMallocManaged", void* p; cudaMallocManaged(&p, kSmall)),
        CALL("cudaMallocHost", void* p; cudaMallocHost(&p, kLarge)),
        CALL("cudaHostAlloc, mapped", void* p; cudaHostAlloc(&p, kLarge, cudaHostAllocMapped)),
        CALL_WITH("cudaHostRegister", std::malloc(kLarge),
                  cudaHostRegister(x, kLarge, cudaHostRegisterDefault)),
        CALL_WITH("cudaHostUnregister", made([](void** p) {
                    *p = std::malloc(kLarge);
                    cudaHostRegister(*p, kLarge, cudaHostRegisterDefault);
                  }),
                  cudaHostUnregister(x)),
        CALL_WITH("cudaFree, 256 B", memory(kSmall), cudaFree(x)),
        CALL_WITH("cudaFree, 64 MiB", memory(64 << 20), cudaFree(x)),
        CALL("cudaFree of a null pointer", cudaFree(nullptr)),
        CALL_WITH("cudaFree of managed memory",
                  made([](void** p) { cudaMallocManaged(p, kSmall); }), cudaFree(x)),
        CALL_WITH("cudaFree of memory of a pool", pool_memory(s.idle), cudaFree(x)),
        CALL_WITH("cudaFreeArray", made([](void** p) {
                    const auto f = cudaCreateChannelDesc<int>();
                    cudaMallocArray(reinterpret_cast<cudaArray_t*>(p), &f, 16, 4);
                  }),
                  cudaFreeArray(static_cast<cudaArray_t>(x))),
        CALL_WITH("cudaFreeHost", made([](void** p) { cudaMallocHost(p, kSmall); }),
                  cudaFreeHost(x)),
        CALL("cudaMallocAsync, idle stream", void* p; cudaMallocAsync(&p, kSmall, s.idle)),
        CALL("cudaMallocAsync, busy stream", void* p; cudaMallocAsync(&p, kSmall, s.busy)),
        CALL_WITH("cudaFreeAsync, idle stream", pool_memory(s.idle), cudaFreeAsync(x, s.idle)),
        CALL_WITH("cudaFreeAsync, busy stream", pool_memory(s.busy), cudaFreeAsync(x, s.busy)),
        CALL("cudaMemPoolTrimTo", cudaMemPool_t p; cudaDeviceGetDefaultMemPool(&p, 0);
             cudaMemPoolTrimTo(p, 0)),
        CALL("cudaDeviceSynchronize", cudaDeviceSynchronize()),
        CALL("cudaStreamSynchronize, busy stream", cudaStreamSynchronize(s.busy)),
        CALL("cudaStreamSynchronize, idle stream", cudaStreamSynchronize(s.idle)),
        CALL("cudaStreamSynchronize, idle blocking stream", cudaStreamSynchronize(s.idle_blocking)),
        CALL("cudaStreamSynchronize, legacy stream", cudaStreamSynchronize(cudaStreamLegacy)),
        CALL("cudaStreamSynchronize, per-thread stream",
             cudaStreamSynchronize(cudaStreamPerThread)),
        CALL("cudaStreamQuery, busy stream", cudaStreamQuery(s.busy)),
        CALL("cudaStreamQuery, idle stream", cudaStreamQuery(s.idle)),
        CALL("cudaStreamQuery, idle blocking stream", cudaStreamQuery(s.idle_blocking)),
        CALL("cudaStreamQuery, legacy stream", cudaStreamQuery(cudaStreamLegacy)),
        CALL("cudaStreamQuery, per-thread stream", cudaStreamQuery(cudaStreamPerThread)),
        CALL("cudaStreamCreate", cudaStream_t p; cudaStreamCreate(&p)),
        CALL("cudaStreamCreateWithFlags, non-blocking", cudaStream_t p;
             cudaStreamCreateWithFlags(&p, cudaStreamNonBlocking)),
        CALL("cudaStreamCreateWithPriority", cudaStream_t p;
             cudaStreamCreateWithPriority(&p, cudaStreamDefault, -1)),
        CALL_WITH("cudaStreamDestroy, an idle stream",
                  made([](void** p) { cudaStreamCreate(reinterpret_cast<cudaStream_t*>(p)); }),
                  cudaStreamDestroy(static_cast<cudaStream_t>(x))),
        CALL("cudaEventCreate", cudaEvent_t p; cudaEventCreate(&p)),
        CALL_WITH("cudaEventDestroy, an idle event",
                  made([](void** p) { cudaEventCreate(reinterpret_cast<cudaEvent_t*>(p)); }),
                  cudaEventDestroy(static_cast<cudaEvent_t>(x))),
        CALL_WITH("cudaEventDestroy, behind the kernel",
                  made([](void** p) { cudaEventCreate(reinterpret_cast<cudaEvent_t*>(p)); }),
                  cudaEventRecord(static_cast<cudaEvent_t>(x), s.busy);
                  cudaEventDestroy(static_cast<cudaEvent_t>(x))),
        CALL("cudaEventRecord, idle stream", cudaEventRecord(s.past, s.idle)),
        CALL("cudaEventRecord, busy stream", cudaEventRecord(s.past, s.busy)),
        CALL("cudaEventRecord, legacy stream", cudaEventRecord(s.past, cudaStreamLegacy)),
        CALL("cudaEventQuery, a past event", cudaEventQuery(s.past)),
        CALL("cudaEventQuery, behind the kernel", cudaEventQuery(s.behind)),
        CALL("cudaEventSynchronize, a past event", cudaEventSynchronize(s.past)),
        CALL("cudaEventSynchronize, behind the kernel", cudaEventSynchronize(s.behind)),
        CALL("cudaEventRecord, legacy stream, and cudaEventSynchronize",
             cudaEventRecord(s.past, cudaStreamLegacy);
             cudaEventSynchronize(s.past)),
        CALL("cudaEventRecord, idle blocking stream, and cudaEventSynchronize",
             cudaEventRecord(s.past, s.idle_blocking);
             cudaEventSynchronize(s.past)),
        CALL("cudaEventRecord, idle blocking stream, and cudaStreamWaitEvent, later stream",
             cudaEventRecord(s.past, s.idle_blocking);
             cudaStreamWaitEvent(s.later, s.past)),
        CALL("cudaEventRecord, legacy stream, and cudaStreamWaitEvent, later stream",
             cudaEventRecord(s.past, cudaStreamLegacy);
             cudaStreamWaitEvent(s.later, s.past)),
        CALL("a kernel, idle blocking stream, and cudaStreamSynchronize of it",
             empty<<<1, 1, 0, s.idle_blocking>>>();
             cudaStreamSynchronize(s.idle_blocking)),
        CALL("cudaLaunchHostFunc, idle blocking stream, and cudaStreamSynchronize of it",
             cudaLaunchHostFunc(s.idle_blocking, nothing, nullptr);
             cudaStreamSynchronize(s.idle_blocking)),
        CALL("a kernel, legacy stream, and cudaStreamSynchronize of a blocking stream",
             empty<<<1, 1>>>();
             cudaStreamSynchronize(s.idle_blocking)),
        CALL("cudaStreamWaitEvent, later stream, behind the kernel",
             cudaStreamWaitEvent(s.later, s.behind)),
        CALL("cudaStreamWaitEvent, later stream, a past event",
             cudaStreamWaitEvent(s.later, s.past)),
        CALL("cudaStreamWaitEvent, idle stream, behind the kernel",
             cudaStreamWaitEvent(s.idle, s.behind)),
        CALL("cudaLaunchHostFunc, idle stream", cudaLaunchHostFunc(s.idle, nothing, nullptr)),
        CALL("cudaLaunchHostFunc, busy stream", cudaLaunchHostFunc(s.busy, nothing, nullptr)),
        CALL("a kernel, idle stream", empty<<<1, 1, 0, s.idle>>>()),
        CALL("a kernel, legacy stream", empty<<<1, 1>>>()),
        CALL_WITH("cudaGraphLaunch, idle stream", small_graph(), cudaGraphLaunch(x, s.idle)),
        CALL_WITH("cudaGraphLaunch, legacy stream", small_graph(), cudaGraphLaunch(x, nullptr)),
        CALL("cudaGraphInstantiate", small_graph()),
        CALL_WITH("cudaGraphUpload, idle stream", small_graph(), cudaGraphUpload(x, s.idle)),
        CALL_WITH("cudaGraphExecDestroy", small_graph(), cudaGraphExecDestroy(x)),
        large(CALL("cudaMemPrefetchAsync, idle stream",
                   cudaMemPrefetchAsync(s.managed, kLarge, on_device(), 0, s.idle))),
        large(CALL("cudaMemPrefetchAsync, busy stream",
                   cudaMemPrefetchAsync(s.managed, kLarge, on_device(), 0, s.busy))),
        large(CALL("cudaMemAdvise",
                   cudaMemAdvise(s.managed, kLarge, cudaMemAdviseSetReadMostly, on_device()))),
        CALL("cudaMemGetInfo", size_t a; size_t b; cudaMemGetInfo(&a, &b)),
        CALL("cudaPointerGetAttributes", cudaPointerAttributes a;
             cudaPointerGetAttributes(&a, s.device)),
        CALL("cudaGetSymbolAddress", void* p; cudaGetSymbolAddress(&p, counter)),
        CALL("cudaFuncGetAttributes", cudaFuncAttributes a;
             cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(empty))),
        CALL("cudaFuncSetAttribute",
             cudaFuncSetAttribute(reinterpret_cast<const void*>(empty),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, 1024)),
        {"cudaFuncGetAttributes, not loaded yet",
         [](Situation&) -> Prepared {
           return [kernel = fresh_kernel()] {
             cudaFuncAttributes a;
             cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel));
           };
         },
         true},
        {"a kernel, not loaded yet, idle stream",
         [](Situation& s) -> Prepared {
           return [&s, kernel = fresh_kernel()] { kernel<<<1, 1, 0, s.idle>>>(nullptr); };
         },
         true},
        CALL("cudaOccupancyMaxActiveBlocksPerMultiprocessor", int n;
             cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, empty, 128, 0)),
        CALL("cudaCreateTextureObject", texture(s.array)),
        CALL_WITH("cudaDestroyTextureObject", texture(s.array), cudaDestroyTextureObject(x)),
        CALL("cudaDeviceSetLimit, heap",
             cudaDeviceSetLimit(cudaLimitMallocHeapSize, (16 + s.number % 8) << 20)),
        CALL("cudaDeviceSetLimit, stack",
             cudaDeviceSetLimit(cudaLimitStackSize, 4096 + 1024 * (s.number % 8))),
        CALL("cudaDeviceSetCacheConfig", cudaDeviceSetCacheConfig(cudaFuncCachePreferL1)),
        CALL("cudaCtxResetPersistingL2Cache", cudaCtxResetPersistingL2Cache()),
        CALL("cudaSetDevice", cudaSetDevice(0)),
        CALL("cudaGetDeviceProperties", cudaDeviceProp p; cudaGetDeviceProperties(&p, 0)),
        CALL("cudaGetLastError", cudaGetLastError()),
  };
}

}  // namespace lockstep::streams
