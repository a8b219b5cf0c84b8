// Other forms of copies, fills, allocations and launches; settings and queries.
#include <cuda_profiler_api.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "calls.h"

namespace lockstep::streams {
namespace {

constexpr int kRow = 64;

__global__ void of_queries(int* x) {
  if (x != nullptr) *x = 1;
}
__device__ int of_a_symbol;
const void* a_kernel() { return reinterpret_cast<const void*>(of_queries); }
void CUDART_CB callback(cudaStream_t, cudaError_t, void*) {}

cudaMemcpy3DParms block(Situation& s) {
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(s.device, kRow, kRow, 4);
  p.dstPtr = make_cudaPitchedPtr(s.second, kRow, kRow, 4);
  p.extent = make_cudaExtent(kRow, 4, 2);
  p.kind = cudaMemcpyDeviceToDevice;
  return p;
}
cudaMemcpy3DPeerParms between_devices(Situation& s) {
  cudaMemcpy3DPeerParms p = {};
  p.srcPtr = make_cudaPitchedPtr(s.device, kRow, kRow, 4);
  p.dstPtr = make_cudaPitchedPtr(s.second, kRow, kRow, 4);
  p.extent = make_cudaExtent(kRow, 4, 2);
  return p;
}

cudaArray_t cube_map() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t made = nullptr;
  cudaMalloc3DArray(&made, &format, make_cudaExtent(4, 4, 6),
                    cudaArrayCubemap | cudaArraySurfaceLoadStore);
  return made;
}
// The parameters of a copy of two faces of a cube map, from or to memory.
cudaMemcpy3DParms faces(cudaArray_t cube, void* memory, bool to_memory) {
  cudaMemcpy3DParms p = {};
  (to_memory ? p.dstPtr : p.srcPtr) = make_cudaPitchedPtr(memory, 16, 4, 4);
  (to_memory ? p.srcArray : p.dstArray) = cube;
  p.extent = make_cudaExtent(4, 4, 2);
  p.kind = cudaMemcpyDefault;
  return p;
}

// A cube map whose first two faces are initialised.
cudaArray_t written_cube_map(Situation& s) {
  const cudaArray_t made = cube_map();
  const cudaMemcpy3DParms p = faces(made, s.device, false);
  cudaMemcpy3D(&p);
  cudaDeviceSynchronize();
  return made;
}

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  cudaSurfaceObject_t made = 0;
  cudaCreateSurfaceObject(&made, &of);
  return made;
}
cudaTextureObject_t texture_of(cudaArray_t array) {
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  const cudaTextureDesc description = {};
  cudaTextureObject_t made = 0;
  cudaCreateTextureObject(&made, &of, &description, nullptr);
  return made;
}

cudaMemPool_t new_pool() {
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t made = nullptr;
  cudaMemPoolCreate(&made, &p);
  return made;
}

const char* const kModule = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .u32 one;
.visible .global .attribute(.managed) .align 4 .u32 two;
.visible .entry nothing() { ret; }
)";
cudaLibrary_t library() {
  cudaLibrary_t made = nullptr;
  cudaLibraryLoadData(&made, kModule, nullptr, nullptr, 0, nullptr, nullptr, 0);
  return made;
}
// The path of a file that contains the module; the call removes the file.
struct Path {
  char text[24];
};
Path module_file() {
  Path path = {"/tmp/order_XXXXXX"};
  const int file = mkstemp(path.text);
  if (file >= 0) {
    FILE* const out = fdopen(file, "w");
    std::fputs(kModule, out);
    std::fclose(out);
  }
  return path;
}

cudaLaunchConfig_t one_block(cudaStream_t stream) {
  cudaLaunchConfig_t c = {};
  c.gridDim = c.blockDim = dim3(1);
  c.stream = stream;
  return c;
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

std::vector<Call> settings_and_queries() {
  return {
    CALL(
        "cudaMemcpy2DAsync, within the device, idle stream",
        cudaMemcpy2DAsync(s.second, kRow, s.device, kRow, 32, 4, cudaMemcpyDeviceToDevice, s.idle)),
        CALL("cudaMemcpy3DAsync, within the device, idle stream",
             const cudaMemcpy3DParms p = block(s);
             cudaMemcpy3DAsync(&p, s.idle)),
        CALL("cudaMemcpy2DToArrayAsync, pinned, idle stream",
             cudaMemcpy2DToArrayAsync(s.array, 0, 0, s.pinned, kRow, kRow, 4,
                                      cudaMemcpyHostToDevice, s.idle)),
        CALL("cudaMemcpy2DFromArrayAsync, pinned, idle stream",
             cudaMemcpy2DFromArrayAsync(s.pinned, kRow, s.array, 0, 0, kRow, 4,
                                        cudaMemcpyDeviceToHost, s.idle)),
        CALL("cudaMemcpyToArray, pageable",
             cudaMemcpyToArray(s.array, 0, 0, s.pageable.data(), kRow, cudaMemcpyHostToDevice)),
        CALL("cudaMemcpyToArrayAsync, pinned, idle stream",
             cudaMemcpyToArrayAsync(s.array, 0, 0, s.pinned, kRow, cudaMemcpyHostToDevice, s.idle)),
        CALL("cudaMemcpyFromArray, pageable",
             cudaMemcpyFromArray(s.pageable.data(), s.array, 0, 0, kRow, cudaMemcpyDeviceToHost)),
        CALL("cudaMemcpyFromArrayAsync, pinned, idle stream",
             cudaMemcpyFromArrayAsync(s.pinned, s.array, 0, 0, kRow, cudaMemcpyDeviceToHost,
                                      s.idle)),
        CALL("cudaMemcpy2DArrayToArray",
             cudaMemcpy2DArrayToArray(s.array, 0, 0, s.array, 0, 2, kRow, 2,
                                      cudaMemcpyDeviceToDevice)),
        CALL_WITH("cudaMemcpy3D, pageable to a cube map", cube_map(),
                  const cudaMemcpy3DParms p = faces(x, s.pageable.data(), false);
                  cudaMemcpy3D(&p)),
        CALL_WITH("cudaMemcpy3D, a cube map to pageable", written_cube_map(s),
                  const cudaMemcpy3DParms p = faces(x, s.pageable.data(), true);
                  cudaMemcpy3D(&p)),
        CALL_WITH("cudaMemcpy3D, device to a cube map", cube_map(),
                  const cudaMemcpy3DParms p = faces(x, s.device, false);
                  cudaMemcpy3D(&p)),
        CALL("cudaMemcpyPeerAsync, of one device, idle stream",
             cudaMemcpyPeerAsync(s.second, 0, s.device, 0, kSmall, s.idle)),
        CALL("cudaMemcpy3DPeer, of one device", const cudaMemcpy3DPeerParms p = between_devices(s);
             cudaMemcpy3DPeer(&p)),
        CALL("cudaMemcpy3DPeerAsync, of one device, idle stream",
             const cudaMemcpy3DPeerParms p = between_devices(s);
             cudaMemcpy3DPeerAsync(&p, s.idle)),
        CALL("cudaMemcpyBatchAsync, within the device, idle stream", void* to[] = {s.second};
             const void* from[] = {s.device}; size_t bytes[] = {kSmall}; size_t first[] = {0};
             cudaMemcpyAttributes a = {}; a.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
             cudaMemcpyBatchAsync(to, from, bytes, 1, &a, first, 1, s.idle)),
        CALL("cudaMemset2DAsync, idle stream", cudaMemset2DAsync(s.device, kRow, 1, 32, 4, s.idle)),
        CALL("cudaMemset3DAsync, idle stream",
             cudaMemset3DAsync(make_cudaPitchedPtr(s.device, kRow, kRow, 4), 1,
                               make_cudaExtent(32, 4, 2), s.idle)),
        CALL("cudaStreamAttachMemAsync, idle stream",
             cudaStreamAttachMemAsync(s.idle, s.managed, 0, cudaMemAttachGlobal)),
        CALL("cudaStreamAddCallback, idle stream",
             cudaStreamAddCallback(s.idle, callback, nullptr, 0)),
        CALL("cudaLaunchKernel, idle stream", int* none = nullptr; void* arguments[] = {&none};
             cudaLaunchKernel(a_kernel(), dim3(1), dim3(1), arguments, 0, s.idle)),
        CALL("cudaLaunchKernelExC, idle stream", int* none = nullptr; void* arguments[] = {&none};
             const cudaLaunchConfig_t c = one_block(s.idle);
             cudaLaunchKernelExC(&c, a_kernel(), arguments)),
        CALL("cudaLaunchCooperativeKernel, idle stream", int* none = nullptr;
             void* arguments[] = {&none};
             cudaLaunchCooperativeKernel(a_kernel(), dim3(1), dim3(1), arguments, 0, s.idle)),
        CALL("cudaMalloc3D, cudaMalloc3DArray", cudaPitchedPtr p;
             cudaMalloc3D(&p, make_cudaExtent(100, 4, 4)); cube_map()),
        CALL("cudaMallocFromPoolAsync, idle stream", cudaMemPool_t pool; void* p;
             cudaDeviceGetDefaultMemPool(&pool, 0);
             cudaMallocFromPoolAsync(&p, kSmall, pool, s.idle)),
        CALL(
            "cudaMemPoolCreate, cudaMemPoolSetAttribute, cudaMemPoolGetAttribute, "
            "cudaMemPoolSetAccess, cudaMemPoolGetAccess, cudaDeviceGetDefaultMemPool, "
            "cudaDeviceGetMemPool, cudaDeviceSetMemPool, cudaMemGetDefaultMemPool, "
            "cudaMemGetMemPool, cudaMemSetMemPool",
            cudaMemPool_t pool = new_pool();
            cudaMemPool_t of_the_device; std::uint64_t kept = 0; cudaMemAccessDesc access = {};
            access.location.type = cudaMemLocationTypeDevice;
            access.flags = cudaMemAccessFlagsProtReadWrite; cudaMemAccessFlags flags;
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
            cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
            cudaMemPoolSetAccess(pool, &access, 1);
            cudaMemPoolGetAccess(&flags, pool, &access.location);
            cudaDeviceGetDefaultMemPool(&of_the_device, 0); cudaDeviceGetMemPool(&of_the_device, 0);
            cudaDeviceSetMemPool(0, of_the_device);
            cudaMemGetDefaultMemPool(&of_the_device, &access.location, cudaMemAllocationTypePinned);
            cudaMemGetMemPool(&of_the_device, &access.location, cudaMemAllocationTypePinned);
            cudaMemSetMemPool(&access.location, cudaMemAllocationTypePinned, of_the_device)),
        CALL_WITH("cudaMemPoolDestroy", new_pool(), cudaMemPoolDestroy(x)),
        CALL("cudaEventCreateWithFlags, cudaEventRecordWithFlags, idle stream", cudaEvent_t e;
             cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
             cudaEventRecordWithFlags(e, s.idle, cudaEventRecordDefault)),
        CALL_WITH(
            "cudaEventElapsedTime, a past event", made([](void** p) {
              auto* const event = reinterpret_cast<cudaEvent_t*>(p);
              cudaEventCreate(event);
              cudaEventRecord(*event, nullptr);
              cudaDeviceSynchronize();
            }),
            float ms;
            cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(x), static_cast<cudaEvent_t>(x))),
        CALL(
            "cudaLibraryLoadData, cudaLibraryGetKernelCount, cudaLibraryEnumerateKernels, "
            "cudaLibraryGetKernel, cudaLibraryGetGlobal, cudaLibraryGetManaged, "
            "cudaKernelSetAttributeForDevice",
            cudaLibrary_t l = library();
            cudaKernel_t k; unsigned n; void* p; size_t bytes; cudaLibraryGetKernelCount(&n, l);
            cudaLibraryEnumerateKernels(&k, 1, l); cudaLibraryGetKernel(&k, l, "nothing");
            cudaLibraryGetGlobal(&p, &bytes, l, "one"); cudaLibraryGetManaged(&p, &bytes, l, "two");
            cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024,
                                            0)),
        CALL_WITH("cudaLibraryLoadFromFile", module_file(), cudaLibrary_t l;
                  cudaLibraryLoadFromFile(&l, x.text, nullptr, nullptr, 0, nullptr, nullptr, 0);
                  std::remove(x.text)),
        CALL_WITH("cudaLibraryUnload", library(), cudaLibraryUnload(x)),
        CALL_WITH("cudaCreateSurfaceObject, cudaGetSurfaceObjectResourceDesc", cube_map(),
                  cudaResourceDesc d;
                  cudaGetSurfaceObjectResourceDesc(&d, surface_of(x))),
        CALL_WITH("cudaDestroySurfaceObject", surface_of(cube_map()), cudaDestroySurfaceObject(x)),
        CALL_WITH(
            "cudaGetTextureObjectResourceDesc, cudaGetTextureObjectTextureDesc, "
            "cudaGetTextureObjectResourceViewDesc",
            texture_of(s.array), cudaResourceDesc d;
            cudaTextureDesc t; cudaResourceViewDesc v; cudaGetTextureObjectResourceDesc(&d, x);
            cudaGetTextureObjectTextureDesc(&t, x); cudaGetTextureObjectResourceViewDesc(&v, x)),
        CALL(
            "cudaStreamGetDevice, cudaStreamGetFlags, cudaStreamGetId, cudaStreamGetPriority, "
            "busy stream",
            int n;
            unsigned flags; unsigned long long id; cudaStreamGetDevice(s.busy, &n);
            cudaStreamGetFlags(s.busy, &flags); cudaStreamGetId(s.busy, &id);
            cudaStreamGetPriority(s.busy, &n)),
        CALL(
            "cudaArrayGetInfo, cudaGetChannelDesc, cudaCreateChannelDesc, "
            "cudaHostGetDevicePointer, cudaHostGetFlags, cudaGetSymbolSize",
            cudaChannelFormatDesc d =
                cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
            cudaExtent e; unsigned flags; void* p; size_t n;
            cudaArrayGetInfo(&d, &e, &flags, s.array); cudaGetChannelDesc(&d, s.array);
            cudaHostGetDevicePointer(&p, s.pinned, 0); cudaHostGetFlags(&flags, s.pinned);
            cudaGetSymbolSize(&n, of_a_symbol)),
        CALL(
            "cudaFuncGetName, cudaFuncGetParamInfo, cudaFuncSetCacheConfig, "
            "cudaFuncSetSharedMemConfig, cudaGetFuncBySymbol, cudaGetKernel, "
            "cudaOccupancyAvailableDynamicSMemPerBlock, "
            "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, "
            "cudaOccupancyMaxActiveClusters, cudaOccupancyMaxPotentialClusterSize",
            const void* k = a_kernel();
            const char* name; size_t a; size_t b; int n; cudaFunction_t f; cudaKernel_t kernel;
            cudaFuncGetName(&name, k); cudaFuncGetParamInfo(k, 0, &a, &b);
            cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1);
            cudaFuncSetSharedMemConfig(k, cudaSharedMemBankSizeFourByte);
            cudaGetFuncBySymbol(&f, k); cudaGetKernel(&kernel, k);
            cudaOccupancyAvailableDynamicSMemPerBlock(&a, k, 1, 32);
            cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, k, 32, 0, 0);
            cudaLaunchAttribute cluster = {}; cluster.id = cudaLaunchAttributeClusterDimension;
            cluster.val.clusterDim.x = cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
            cudaLaunchConfig_t c = one_block(nullptr); c.attrs = &cluster; c.numAttrs = 1;
            cudaOccupancyMaxActiveClusters(&n, k, &c);
            cudaOccupancyMaxPotentialClusterSize(&n, k, &c)),
        CALL(
            "cudaInitDevice, cudaSetDeviceFlags, cudaSetValidDevices, "
            "cudaDeviceSetSharedMemConfig",
            int device = 0;
            unsigned flags = 0; cudaGetDeviceFlags(&flags); cudaInitDevice(0, flags, 0);
            cudaSetDeviceFlags(flags); cudaSetValidDevices(&device, 1);
            cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte)),
        CALL(
            "cudaGetDevice, cudaGetDeviceCount, cudaGetDeviceFlags, cudaChooseDevice, "
            "cudaDeviceGetAttribute, cudaDeviceGetByPCIBusId, cudaDeviceGetPCIBusId, "
            "cudaDeviceGetCacheConfig, cudaDeviceGetSharedMemConfig, cudaDeviceGetLimit, "
            "cudaDeviceGetStreamPriorityRange, cudaDriverGetVersion, cudaRuntimeGetVersion",
            int n;
            int m; unsigned flags; char id[32]; size_t limit; cudaFuncCache cache;
            cudaSharedMemConfig banks; cudaDeviceProp p = {}; cudaGetDevice(&n);
            cudaGetDeviceCount(&n); cudaGetDeviceFlags(&flags); cudaChooseDevice(&n, &p);
            cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0);
            cudaDeviceGetPCIBusId(id, sizeof id, 0); cudaDeviceGetByPCIBusId(&n, id);
            cudaDeviceGetCacheConfig(&cache); cudaDeviceGetSharedMemConfig(&banks);
            cudaDeviceGetLimit(&limit, cudaLimitStackSize);
            cudaDeviceGetStreamPriorityRange(&n, &m); cudaDriverGetVersion(&n);
            cudaRuntimeGetVersion(&n)),
        CALL(
            "cudaPeekAtLastError, cudaGetErrorName, cudaGetErrorString, cudaGetDriverEntryPoint, "
            "cudaGetDriverEntryPointByVersion, cudaProfilerStart, cudaProfilerStop",
            cudaGetErrorName(cudaPeekAtLastError());
            cudaGetErrorString(cudaSuccess); void* f; cudaDriverEntryPointQueryResult found;
            cudaGetDriverEntryPoint("cuInit", &f, cudaEnableDefault, &found);
            cudaGetDriverEntryPointByVersion("cuInit", &f, 12000, cudaEnableDefault, &found);
            cudaProfilerStart(); cudaProfilerStop()),
  };
}

#pragma GCC diagnostic pop

}  // namespace lockstep::streams
