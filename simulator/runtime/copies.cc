// cudaMemcpy, cudaMemset and their variants of one, two and three dimensions. Asynchronous ones have happened when they return.
#include "simulator/runtime/runtime.h"
#include "simulator/runtime/transfers.h"

using lockstep::runtime::api;
using lockstep::runtime::Block;
using lockstep::runtime::check_stream;
using lockstep::runtime::copy;
using lockstep::runtime::Device;
using lockstep::runtime::fill;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::Shape;

namespace {

Block line(const void* at) { return {const_cast<void*>(at), 0, 0}; }

// Runs `body` once the stream is known to be one.
template <class Body>
cudaError_t in_stream(const char* function, cudaStream_t stream, Body&& body) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_stream(r, d, function, stream); error != cudaSuccess) return error;
    return body(r);
  });
}

cudaError_t copy_line(const char* function, void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) { return copy(r, function, line(to), line(from), Shape{size, 1, 1}, kind); });
}

cudaError_t copy_rows(const char* function, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                      cudaMemcpyKind kind, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) -> cudaError_t {
    if (width > to_pitch || width > from_pitch) {
      r.explain(function, "the width exceeds a pitch");
      return height == 1 ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
    }
    return copy(r, function, Block{to, to_pitch, 0}, Block{const_cast<void*>(from), from_pitch, 0}, Shape{width, height, 1}, kind);
  });
}

// The block of a pitched pointer at a position.
Block block_of(const cudaPitchedPtr& p, const cudaPos& at) {
  const size_t slice = p.pitch * p.ysize;
  return {static_cast<char*>(p.ptr) + at.z * slice + at.y * p.pitch + at.x, p.pitch, slice};
}

cudaError_t copy_box(const char* function, const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) -> cudaError_t {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (p->srcArray != nullptr || p->dstArray != nullptr) {
      r.explain(function, "arrays are not supported by the simulated GPU");
      return cudaErrorNotSupported;
    }
    const Shape shape{p->extent.width, p->extent.height, p->extent.depth};
    if (shape.empty()) return cudaSuccess;
    if (p->srcPtr.ptr == nullptr || p->dstPtr.ptr == nullptr) return cudaErrorInvalidValue;
    if (p->srcPos.x + shape.width > p->srcPtr.pitch || p->dstPos.x + shape.width > p->dstPtr.pitch) {
      r.explain(function, "the width exceeds a pitch");
      return cudaErrorInvalidPitchValue;
    }
    if (p->srcPos.y + shape.height > p->srcPtr.ysize || p->dstPos.y + shape.height > p->dstPtr.ysize) {
      r.explain(function, "the box is higher than a slice (ysize)");
      return shape.depth > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
    }
    return copy(r, function, block_of(p->dstPtr, p->dstPos), block_of(p->srcPtr, p->srcPos), shape, p->kind);
  });
}

cudaError_t fill_line(const char* function, void* to, int value, size_t size, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) { return fill(r, function, line(to), value, Shape{size, 1, 1}); });
}

cudaError_t fill_rows(const char* function, void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) -> cudaError_t {
    if (height > 1 && width > pitch) return cudaErrorInvalidValue;
    return fill(r, function, Block{to, pitch, 0}, value, Shape{width, height, 1});
  });
}

cudaError_t fill_box(const char* function, const cudaPitchedPtr& to, int value, const cudaExtent& extent, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) -> cudaError_t {
    if (extent.width > to.pitch) return cudaErrorInvalidValue;
    return fill(r, function, block_of(to, cudaPos{0, 0, 0}), value, Shape{extent.width, extent.height, extent.depth});
  });
}

bool device_exists(const Runtime& r, int device) { return device >= 0 && device < static_cast<int>(r.devices.size()); }

cudaError_t copy_between(const char* function, void* to, int to_device, const void* from, int from_device, size_t size, cudaStream_t stream) {
  return in_stream(function, stream, [&](Runtime& r) -> cudaError_t {
    if (!device_exists(r, to_device) || !device_exists(r, from_device)) return cudaErrorInvalidDevice;
    return copy(r, function, line(to), line(from), Shape{size, 1, 1}, cudaMemcpyDeviceToDevice);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_line(__func__, to, from, size, kind, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_line(__func__, to, from, size, kind, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  return copy_between(__func__, to, to_device, from, from_device, size, nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size, cudaStream_t stream) {
  return copy_between(__func__, to, to_device, from, from_device, size, stream);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows(__func__, to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy_rows(__func__, to, to_pitch, from, from_pitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) { return copy_box(__func__, parameters, nullptr); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) { return copy_box(__func__, parameters, stream); }

cudaError_t cudaMemset(void* to, int value, size_t size) { return fill_line(__func__, to, value, size, nullptr); }
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) { return fill_line(__func__, to, value, size, stream); }

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_rows(__func__, to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return fill_rows(__func__, to, pitch, value, width, height, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) { return fill_box(__func__, to, value, extent, nullptr); }
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_box(__func__, to, value, extent, stream);
}

}  // extern "C"

LOCKSTEP_TWIN(cudaMemcpy, _ptds)
LOCKSTEP_TWIN(cudaMemcpyAsync, _ptsz)
LOCKSTEP_TWIN(cudaMemcpy2D, _ptds)
LOCKSTEP_TWIN(cudaMemcpy2DAsync, _ptsz)
LOCKSTEP_TWIN(cudaMemcpy3D, _ptds)
LOCKSTEP_TWIN(cudaMemcpy3DAsync, _ptsz)
LOCKSTEP_TWIN(cudaMemset, _ptds)
LOCKSTEP_TWIN(cudaMemsetAsync, _ptsz)
LOCKSTEP_TWIN(cudaMemset2D, _ptds)
LOCKSTEP_TWIN(cudaMemset2DAsync, _ptsz)
LOCKSTEP_TWIN(cudaMemset3D, _ptds)
LOCKSTEP_TWIN(cudaMemset3DAsync, _ptsz)
