// Arrays: making them and copying to and from them.
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/work/executor.h"
#include "simulator/runtime/work/work.h"

using namespace lockstep::runtime;

namespace {

cudaError_t create(const char* function, const void* caller, cudaArray_t* array,
                   const cudaChannelFormatDesc* format, const cudaExtent& extent, unsigned flags) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (array == nullptr || format == nullptr) return cudaErrorInvalidValue;
    Array* made = nullptr;
    // In this order on an H200.
    cudaError_t error = lockstep::runtime::Arrays::check_format(*format, extent, flags);
    if (error == cudaSuccess) error = check_unsafe(r, function);
    if (error == cudaSuccess) error = arrays().create(r, d, *format, extent, flags, &made);
    if (error == cudaSuccess)
      r.note_allocated(*r.memory->find(made->image.allocation), function, caller);
    *array = reinterpret_cast<cudaArray_t>(made);
    return error;
  });
}

// A rectangle of `width` bytes and `height` rows between memory and an array, at an offset of bytes
// and rows.
struct Place {
  cudaArray_const_t array;
  size_t x, y;
};

// Turns bytes into the elements that cudaMemcpy3D counts in; false where they are no whole number
// of elements.
bool to_elements(const Array& array, size_t bytes, size_t* elements) {
  *elements = bytes / array.element_bytes();
  return bytes % array.element_bytes() == 0;
}

cudaError_t copy(const Call& call, const Place* to, cudaPitchedPtr to_memory, const Place* from,
                 cudaPitchedPtr from_memory, size_t width, size_t height, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  return api(call.name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    // Pitches lie between rows, and are judged before the places.
    for (auto [place, memory] : {std::pair(to, &to_memory), std::pair(from, &from_memory)}) {
      if (place != nullptr) continue;
      if (height > 1 && memory->pitch < width) return cudaErrorInvalidPitchValue;
      memory->pitch = std::max(memory->pitch, width);
    }
    CopyWork work;
    work.box.kind = kind;
    work.box.extent = {width, height, 1};
    for (const Place* place : {to, from}) {
      if (place == nullptr) continue;
      const Array* array = arrays().find(place->array);
      if (array == nullptr) return cudaErrorInvalidResourceHandle;
      // As on an H200: less than an element of an array with one row is nothing.
      const bool is_part = height == 1 && width < array->element_bytes() &&
                           array->extent.height == 0 && place->y == 0;
      if (height == 0 || is_part) return cudaSuccess;
      size_t x = 0;
      if (!to_elements(*array, place->x, &x) || !to_elements(*array, width, &work.box.extent.width))
        return cudaErrorInvalidValue;
      (place == to ? work.box.dstPos : work.box.srcPos) = {x, place->y, 0};
    }
    if (to != nullptr)
      work.box.dstArray = const_cast<cudaArray_t>(to->array);
    else
      work.box.dstPtr = to_memory;
    if (from != nullptr)
      work.box.srcArray = const_cast<cudaArray_t>(from->array);
    else
      work.box.srcPtr = from_memory;
    if (const cudaError_t error = check_copy(r, call.name, work.box); error != cudaSuccess)
      return error;
    return put(r, d, call, stream, work);
  });
}

cudaPitchedPtr rows(const void* at, size_t pitch, size_t width, size_t height) {
  return {const_cast<void*>(at), pitch, width, height};
}

// `bytes` from a row of an array on: all of it must lie in rows that are copied whole, or in one.
cudaError_t copy_line(const Call& call, const Place& place, void* memory, bool to_array,
                      size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  Runtime& r = Runtime::get();
  size_t row = 0;
  {
    std::lock_guard lock(r.lock);
    const Array* array = arrays().find(place.array);
    if (array == nullptr) return end_call(cudaErrorInvalidResourceHandle, call.name);
    row = array->image.width * array->element_bytes();
  }
  // Up to the end of the first row, the whole rows, the rest.
  auto* at = static_cast<char*>(memory);
  size_t x = place.x, y = place.y;
  while (bytes > 0) {
    if (x >= row) return end_call(cudaErrorInvalidValue, call.name);
    const size_t height = x == 0 && bytes >= row ? bytes / row : 1;
    const size_t width = height > 1 || (x == 0 && bytes >= row) ? row : std::min(bytes, row - x);
    const Place here{place.array, x, y};
    const cudaPitchedPtr lines = rows(at, width, width, height);
    const cudaError_t error =
        to_array ? copy(call, &here, {}, nullptr, lines, width, height, kind, stream)
                 : copy(call, nullptr, lines, &here, {}, width, height, kind, stream);
    if (error != cudaSuccess) return error;
    at += width * height;
    bytes -= width * height;
    y += height;
    x = 0;
  }
  return cudaSuccess;
}

}  // namespace

#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // some of these are, and programs still use them

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  return create(__func__, __builtin_return_address(0), array, format, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return create(__func__, __builtin_return_address(0), array, format, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (array == nullptr) return cudaSuccess;
    Array* a = arrays().find(array);
    if (a == nullptr) {
      r.explain("cudaFreeArray", "there is no such array; was it freed before?");
      return cudaErrorContextIsDestroyed;
    }
    lockstep::runtime::wait_for_all(r);
    if (a = arrays().find(array); a == nullptr) return cudaErrorContextIsDestroyed;
    arrays().destroy(r, a);
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    const Array* a = arrays().find(array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = a->format;
    if (extent != nullptr) *extent = a->extent;
    if (flags != nullptr) *flags = a->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    const Array* a = arrays().find(array);
    if (format == nullptr) return cudaErrorInvalidValue;
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    *format = a->format;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  const Place place{to, x, y};
  return copy(Call::blocking(__func__), &place, {}, nullptr, rows(from, pitch, width, height),
              width, height, kind, nullptr);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  const Place place{to, x, y};
  return copy(Call::async(__func__), &place, {}, nullptr, rows(from, pitch, width, height), width,
              height, kind, stream);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  const Place place{from, x, y};
  return copy(Call::blocking(__func__), nullptr, rows(to, pitch, width, height), &place, {}, width,
              height, kind, nullptr);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  const Place place{from, x, y};
  return copy(Call::async(__func__), nullptr, rows(to, pitch, width, height), &place, {}, width,
              height, kind, stream);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  const Place target{to, to_x, to_y}, source{from, from_x, from_y};
  return copy(Call::blocking(__func__), &target, {}, &source, {}, width, height, kind, nullptr);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return copy_line(Call::blocking(__func__), {to, x, y}, const_cast<void*>(from), true, bytes, kind,
                   nullptr);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_line(Call::async(__func__), {to, x, y}, const_cast<void*>(from), true, bytes, kind,
                   stream);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return copy_line(Call::blocking(__func__), {from, x, y}, to, false, bytes, kind, nullptr);
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_line(Call::async(__func__), {from, x, y}, to, false, bytes, kind, stream);
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaMemcpy2DToArray, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpy2DFromArray, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpyToArray, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpyFromArray, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz)
