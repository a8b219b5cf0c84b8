// cudaMemcpy, cudaMemset and their variants of one, two and three dimensions. Asynchronous ones
// have happened when they return.
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/work.h"

using lockstep::runtime::api;
using lockstep::runtime::Call;
using lockstep::runtime::check_copy;
using lockstep::runtime::CopyWork;
using lockstep::runtime::Device;
using lockstep::runtime::FillWork;
using lockstep::runtime::make_copy_work;
using lockstep::runtime::put;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::Work;

namespace {

// Puts what `make` makes into a stream.
template <class Make>
cudaError_t in_stream(const Call& call, cudaStream_t stream, Make&& make) {
  return api(call.name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Work work;
    if (const cudaError_t error = make(r, work); error != cudaSuccess) return error;
    return put(r, d, call, stream, std::move(work));
  });
}

// A call that moves nothing returns before it looks at anything, and captures nothing, as an H200
// shows.
cudaError_t do_nothing(const Call& call) {
  return api(call.name, Reach::kDevice, [](Runtime&, Device&) { return cudaSuccess; });
}

cudaError_t copy_line(const Call& call, void* to, const void* from, size_t size,
                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (size == 0) return do_nothing(call);
  return in_stream(call, stream, [&](Runtime&, Work& work) {
    work = make_copy_work(to, size, from, size, size, 1, kind);
    return cudaSuccess;
  });
}

cudaError_t copy_rows(const Call& call, void* to, size_t to_pitch, const void* from,
                      size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  if (width == 0 || height == 0) return do_nothing(call);
  return in_stream(call, stream, [&](Runtime& r, Work& work) -> cudaError_t {
    if (height != 0 && (width > to_pitch || width > from_pitch)) {
      r.explain(call.name, "the width exceeds a pitch");
      return height == 1 ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
    }
    work = make_copy_work(to, to_pitch, from, from_pitch, width, height, kind);
    return cudaSuccess;
  });
}

cudaError_t copy_box(const Call& call, const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return in_stream(call, stream, [&](Runtime& r, Work& work) -> cudaError_t {
    if (p == nullptr) return cudaErrorInvalidValue;
    CopyWork copy{*p};
    // A single row needs no pitch.
    if (p->extent.height == 1 && p->extent.depth == 1) {
      for (cudaPitchedPtr* memory : {&copy.box.srcPtr, &copy.box.dstPtr})
        if (memory->pitch == 0) memory->pitch = p->extent.width;
    }
    work = copy;
    return check_copy(r, call.name, copy.box);
  });
}

cudaError_t fill_slices(const Call& call, const cudaPitchedPtr& to, int value,
                        const cudaExtent& extent, cudaStream_t stream) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return do_nothing(call);
  return in_stream(call, stream, [&](Runtime&, Work& work) {
    FillWork fill;
    fill.rows = {to.ptr, to.pitch,     static_cast<unsigned>(value & 0xff),
                 1,      extent.width, extent.height};
    fill.depth = extent.depth;
    fill.slice = to.pitch * to.ysize;
    work = fill;
    return cudaSuccess;
  });
}

cudaError_t fill_rows(const Call& call, void* to, size_t pitch, int value, size_t width,
                      size_t height, cudaStream_t stream) {
  if (height > 1 && width > pitch)
    return lockstep::runtime::end_call(cudaErrorInvalidValue, call.name);
  return fill_slices(call, {to, pitch, width, height}, value, {width, height, 1}, stream);
}

cudaError_t fill_line(const Call& call, void* to, int value, size_t size, cudaStream_t stream) {
  return fill_slices(call, {to, size, size, 1}, value, {size, 1, 1}, stream);
}

cudaError_t fill_box(const Call& call, const cudaPitchedPtr& to, int value,
                     const cudaExtent& extent, cudaStream_t stream) {
  if (extent.width > to.pitch) return lockstep::runtime::end_call(cudaErrorInvalidValue, call.name);
  return fill_slices(call, to, value, extent, stream);
}

cudaError_t copy_between(const Call& call, void* to, int to_device, const void* from,
                         int from_device, size_t size, cudaStream_t stream) {
  if (size == 0 && call.returns == Call::Returns::kBetweenDevices) return do_nothing(call);
  return in_stream(call, stream, [&](Runtime& r, Work& work) -> cudaError_t {
    if (!r.device_exists(to_device) || !r.device_exists(from_device)) return cudaErrorInvalidDevice;
    work = make_copy_work(to, size, from, size, size, 1, cudaMemcpyDeviceToDevice);
    return cudaSuccess;
  });
}

cudaError_t copy_box_between(const Call& call, const cudaMemcpy3DPeerParms* p,
                             cudaStream_t stream) {
  return in_stream(call, stream, [&](Runtime& r, Work& work) -> cudaError_t {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (!r.device_exists(p->dstDevice) || !r.device_exists(p->srcDevice))
      return cudaErrorInvalidDevice;
    CopyWork box;
    box.box = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
               p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
    work = box;
    return check_copy(r, call.name, box.box);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_line(Call::blocking(__func__), to, from, size, kind, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_line(Call::async(__func__), to, from, size, kind, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t size) {
  return copy_between(Call::between_devices(__func__), to, to_device, from, from_device, size,
                      nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream) {
  return copy_between(Call::async(__func__), to, to_device, from, from_device, size, stream);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows(Call::blocking(__func__), to, to_pitch, from, from_pitch, width, height, kind,
                   nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy_rows(Call::async(__func__), to, to_pitch, from, from_pitch, width, height, kind,
                   stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_box(Call::blocking(__func__), parameters, nullptr);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_box(Call::async(__func__), parameters, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return copy_box_between(Call::between_devices(__func__), parameters, nullptr);
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_box_between(Call::async(__func__), parameters, stream);
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes,
                                 size_t count, cudaMemcpyAttributes* attributes, size_t* indices,
                                 size_t kinds, cudaStream_t stream) {
  // The attributes say when sources may be read and where data should be: nothing that is done at
  // once needs to know.
  if (to == nullptr || from == nullptr || sizes == nullptr || count == 0 || attributes == nullptr ||
      indices == nullptr || kinds == 0 || kinds > count) {
    return lockstep::runtime::end_call(cudaErrorInvalidValue);
  }
  for (size_t i = 0; i < count; ++i) {
    if (const cudaError_t error =
            copy_line(Call::async(__func__), to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
        error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int value, size_t size) {
  return fill_line(Call::blocking(__func__), to, value, size, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  return fill_line(Call::async(__func__), to, value, size, stream);
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_rows(Call::blocking(__func__), to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill_rows(Call::async(__func__), to, pitch, value, width, height, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_box(Call::blocking(__func__), to, value, extent, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill_box(Call::async(__func__), to, value, extent, stream);
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaMemcpy, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpyAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpy2D, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpy2DAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpy3D, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpy3DAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemset, _ptds)
LOCKSTEP_PER_THREAD(cudaMemsetAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemset2D, _ptds)
LOCKSTEP_PER_THREAD(cudaMemset2DAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemset3D, _ptds)
LOCKSTEP_PER_THREAD(cudaMemset3DAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpy3DPeer, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpyBatchAsync, _ptsz)
