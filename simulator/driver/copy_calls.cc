// Copies in one, two and three dimensions between memory and arrays. Asynchronous copies are
// complete when they return.
#include "simulator/driver/call.h"
#include "simulator/driver/copies.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/work/work.h"

using namespace lockstep::driver;
using lockstep::runtime::arrays;
using lockstep::runtime::Call;
using lockstep::runtime::check_copy;
using lockstep::runtime::CopyWork;
using lockstep::runtime::put;

namespace lockstep::driver {
namespace {

// One side of a copy, whichever structure describes it.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x_bytes, y, z, pitch, height;
};

struct Placed {
  cudaArray_t array = nullptr;
  cudaPitchedPtr memory{};
  cudaPos position{};
};

// False if an array handle is invalid, or if an offset is not a whole number of the array's
// elements.
bool place(const Side& side, const CUDA_MEMCPY3D& box, Placed* placed) {
  placed->position = {side.x_bytes, side.y, side.z};
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    placed->array = reinterpret_cast<cudaArray_t>(side.array);
    const runtime::Array* const array = arrays().find(placed->array);
    if (array == nullptr || side.x_bytes % array->element_bytes() != 0 ||
        box.WidthInBytes % array->element_bytes() != 0)
      return false;
    placed->position.x /= array->element_bytes();
    return true;
  }
  const void* const at = side.type == CU_MEMORYTYPE_HOST ? side.host : pointer(side.device);
  // A slice needs no pitch if its rows lie side by side, and a single slice no height.
  const std::size_t least = side.x_bytes + box.WidthInBytes;
  const std::size_t pitch = side.pitch == 0 && box.Depth <= 1 ? least : side.pitch;
  const std::size_t height = side.height == 0 && box.Depth <= 1 ? side.y + box.Height : side.height;
  placed->memory = {const_cast<void*>(at), pitch, pitch, height};
  return true;
}

bool is_host(CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; }

}  // namespace

CUresult box_of(const CUDA_MEMCPY3D& p, cudaMemcpy3DParms* box) {
  for (const CUmemorytype type : {p.srcMemoryType, p.dstMemoryType}) {
    if (type < CU_MEMORYTYPE_HOST || type > CU_MEMORYTYPE_UNIFIED) return CUDA_ERROR_INVALID_VALUE;
  }
  if (p.srcLOD != 0 || p.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  Placed from, to;
  const Side source{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                    p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
  const Side target{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
                    p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
  if (!place(source, p, &from) || !place(target, p, &to)) return CUDA_ERROR_INVALID_VALUE;
  *box = {from.array,
          from.position,
          from.memory,
          to.array,
          to.position,
          to.memory,
          {p.WidthInBytes, p.Height, p.Depth},
          cudaMemcpyDefault};
  const cudaArray_t array = to.array != nullptr ? to.array : from.array;
  if (array != nullptr) box->extent.width /= arrays().find(array)->element_bytes();
  if (p.srcMemoryType != CU_MEMORYTYPE_UNIFIED && p.dstMemoryType != CU_MEMORYTYPE_UNIFIED) {
    const bool from_host = is_host(p.srcMemoryType), to_host = is_host(p.dstMemoryType);
    box->kind = from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                          : (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
  }
  return CUDA_SUCCESS;
}

void describe_box(const cudaMemcpy3DParms& box, CUDA_MEMCPY3D* p) {
  *p = {};
  const auto side = [&](cudaArray_t array, const cudaPitchedPtr& memory, const cudaPos& at,
                        bool host, CUmemorytype* type, CUdeviceptr* device, CUarray* own,
                        std::size_t* x, std::size_t* y, std::size_t* z, std::size_t* pitch,
                        std::size_t* height) {
    const runtime::Array* const found = arrays().find(array);
    *type = found != nullptr                ? CU_MEMORYTYPE_ARRAY
            : host                          ? CU_MEMORYTYPE_HOST
            : box.kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                                            : CU_MEMORYTYPE_DEVICE;
    *own = reinterpret_cast<CUarray>(array);
    *device = reinterpret_cast<CUdeviceptr>(memory.ptr);
    *x = found != nullptr ? at.x * found->element_bytes() : at.x;
    *y = at.y;
    *z = at.z;
    *pitch = memory.pitch;
    *height = memory.ysize;
  };
  const bool from_host = box.kind == cudaMemcpyHostToHost || box.kind == cudaMemcpyHostToDevice;
  const bool to_host = box.kind == cudaMemcpyHostToHost || box.kind == cudaMemcpyDeviceToHost;
  side(box.srcArray, box.srcPtr, box.srcPos, from_host, &p->srcMemoryType, &p->srcDevice,
       &p->srcArray, &p->srcXInBytes, &p->srcY, &p->srcZ, &p->srcPitch, &p->srcHeight);
  side(box.dstArray, box.dstPtr, box.dstPos, to_host, &p->dstMemoryType, &p->dstDevice,
       &p->dstArray, &p->dstXInBytes, &p->dstY, &p->dstZ, &p->dstPitch, &p->dstHeight);
  if (from_host) p->srcHost = box.srcPtr.ptr, p->srcDevice = 0;
  if (to_host) p->dstHost = box.dstPtr.ptr, p->dstDevice = 0;
  const cudaArray_t array = box.dstArray != nullptr ? box.dstArray : box.srcArray;
  const runtime::Array* const found = arrays().find(array);
  p->WidthInBytes = box.extent.width * (found != nullptr ? found->element_bytes() : 1);
  p->Height = box.extent.height;
  p->Depth = box.extent.depth;
}

}  // namespace lockstep::driver

namespace {

CUresult copy_box(const Call& how, const CUDA_MEMCPY3D& parameters, CUstream stream) {
  return locked(how.name, needs_of(stream), [&](Runtime& r, Device& d) {
    if (copies_nothing(parameters)) return CUDA_SUCCESS;
    CopyWork work;
    if (const CUresult result = box_of(parameters, &work.box); result != CUDA_SUCCESS)
      return result;
    if (const cudaError_t error = check_copy(r, how.name, work.box); error != cudaSuccess)
      return result_of(error);
    return result_of(put(r, d, how, stream, work));
  });
}

CUresult copy_rows(const Call& how, const CUDA_MEMCPY2D* p, CUstream stream) {
  if (p == nullptr) return call(how.name, Needs::kContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = p->srcXInBytes;
  box.srcY = p->srcY;
  box.srcMemoryType = p->srcMemoryType;
  box.srcHost = p->srcHost;
  box.srcDevice = p->srcDevice;
  box.srcArray = p->srcArray;
  box.srcPitch = p->srcPitch;
  box.dstXInBytes = p->dstXInBytes;
  box.dstY = p->dstY;
  box.dstMemoryType = p->dstMemoryType;
  box.dstHost = p->dstHost;
  box.dstDevice = p->dstDevice;
  box.dstArray = p->dstArray;
  box.dstPitch = p->dstPitch;
  box.WidthInBytes = p->WidthInBytes;
  box.Height = p->Height;
  box.Depth = 1;
  return copy_box(how, box, stream);
}

CUresult copy_box(const Call& how, const CUDA_MEMCPY3D* p, CUstream stream) {
  if (p == nullptr) return call(how.name, Needs::kContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  return copy_box(how, *p, stream);
}

// Ignores the contexts, which name the devices of the memory: the addresses name them too.
CUresult copy_peer_box(const Call& how, const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
  if (p == nullptr) return call(how.name, Needs::kContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(CUDA_MEMCPY3D));
  CUDA_MEMCPY3D box = *reinterpret_cast<const CUDA_MEMCPY3D*>(p);
  box.reserved0 = box.reserved1 = nullptr;
  return copy_box(how, box, stream);
}

// A copy of `bytes` in one row. Each side is an address, or an array with an offset in bytes.
struct Line {
  CUmemorytype type;
  const void* at;
  std::size_t offset = 0;
};
Line host(const void* at) { return {CU_MEMORYTYPE_HOST, at}; }
Line device(CUdeviceptr at) { return {CU_MEMORYTYPE_DEVICE, pointer(at)}; }
Line array(CUarray at, std::size_t offset) { return {CU_MEMORYTYPE_ARRAY, at, offset}; }

CUresult copy_array_line(const Call& how, const Line& to, const Line& from, std::size_t bytes,
                         CUstream stream = nullptr) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = from.type;
  box.srcXInBytes = from.offset;
  box.srcHost = from.at;
  box.srcDevice = reinterpret_cast<CUdeviceptr>(from.at);
  box.srcArray = reinterpret_cast<CUarray>(const_cast<void*>(from.at));
  box.dstMemoryType = to.type;
  box.dstXInBytes = to.offset;
  box.dstHost = const_cast<void*>(to.at);
  box.dstDevice = reinterpret_cast<CUdeviceptr>(to.at);
  box.dstArray = reinterpret_cast<CUarray>(const_cast<void*>(to.at));
  box.WidthInBytes = bytes;
  box.Height = box.Depth = 1;
  return copy_box(how, box, stream);
}

CUresult copy_line(const Call& how, void* to, const void* from, std::size_t bytes,
                   cudaMemcpyKind kind, CUstream stream = nullptr) {
  return locked(how.name, needs_of(stream), [&](Runtime& r, Device& d) {
    return put(r, d, how, stream,
               lockstep::runtime::make_copy_work(to, bytes, from, bytes, bytes, 1, kind));
  });
}

CUresult copy_peer(const Call& how, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                   CUcontext from_context, std::size_t bytes, CUstream stream) {
  return locked(how.name, needs_of(stream), [&](Runtime& r, Device& d) {
    if (find_context(to_context) == nullptr || find_context(from_context) == nullptr)
      return CUDA_ERROR_INVALID_CONTEXT;
    return result_of(put(r, d, how, stream,
                         lockstep::runtime::make_copy_work(pointer(to), bytes, pointer(from), bytes,
                                                           bytes, 1, cudaMemcpyDeviceToDevice)));
  });
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_line(Call::blocking("cuMemcpy"), pointer(to), pointer(from), bytes,
                   cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_line(Call::async("cuMemcpyAsync"), pointer(to), pointer(from), bytes,
                   cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_line(Call::blocking("cuMemcpyHtoD"), pointer(to), from, bytes,
                   cudaMemcpyHostToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_line(Call::async("cuMemcpyHtoDAsync"), pointer(to), from, bytes,
                   cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_line(Call::blocking("cuMemcpyDtoH"), to, pointer(from), bytes,
                   cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_line(Call::async("cuMemcpyDtoHAsync"), to, pointer(from), bytes,
                   cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_line(Call::blocking("cuMemcpyDtoD"), pointer(to), pointer(from), bytes,
                   cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_line(Call::async("cuMemcpyDtoDAsync"), pointer(to), pointer(from), bytes,
                   cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  return copy_peer(Call::between_devices("cuMemcpyPeer"), to, to_context, from, from_context, bytes,
                   nullptr);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  return copy_peer(Call::async("cuMemcpyPeerAsync"), to, to_context, from, from_context, bytes,
                   stream);
}

CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return copy_array_line(Call::blocking("cuMemcpyDtoA"), array(to, offset), device(from), bytes);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy_array_line(Call::blocking("cuMemcpyAtoD"), device(to), array(from, offset), bytes);
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return copy_array_line(Call::blocking("cuMemcpyHtoA"), array(to, offset), host(from), bytes);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy_array_line(Call::blocking("cuMemcpyAtoH"), host(to), array(from, offset), bytes);
}
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                      std::size_t bytes) {
  return copy_array_line(Call::blocking("cuMemcpyAtoA"), array(to, to_offset),
                         array(from, from_offset), bytes);
}
CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                           CUstream stream) {
  return copy_array_line(Call::async("cuMemcpyHtoAAsync"), array(to, offset), host(from), bytes,
                         stream);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                           CUstream stream) {
  return copy_array_line(Call::async("cuMemcpyAtoHAsync"), host(to), array(from, offset), bytes,
                         stream);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* p) {
  return copy_rows(Call::blocking("cuMemcpy2D"), p, nullptr);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* p) {
  return copy_rows(Call::blocking("cuMemcpy2DUnaligned"), p, nullptr);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* p, CUstream stream) {
  return copy_rows(Call::async("cuMemcpy2DAsync"), p, stream);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* p) {
  return copy_box(Call::blocking("cuMemcpy3D"), p, nullptr);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* p, CUstream stream) {
  return copy_box(Call::async("cuMemcpy3DAsync"), p, stream);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p) {
  return copy_peer_box(Call::between_devices("cuMemcpy3DPeer"), p, nullptr);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
  return copy_peer_box(Call::async("cuMemcpy3DPeerAsync"), p, stream);
}

}  // extern "C"
