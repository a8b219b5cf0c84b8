// Advice and prefetching of managed memory: there is one memory, so both only check their
// arguments.
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/transfers.h"

using lockstep::memory::Address;
using lockstep::memory::Allocation;
using lockstep::memory::Kind;
using lockstep::runtime::api;
using lockstep::runtime::check_stream;
using lockstep::runtime::check_unsafe;
using lockstep::runtime::Device;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

namespace {

cudaError_t check_managed(Runtime& r, const char* function, const void* pointer, size_t size) {
  const Address address = reinterpret_cast<Address>(pointer);
  const Allocation* a = r.memory->find(address);
  if (a == nullptr || a->freed || a->kind != Kind::kManaged || size > a->base + a->size - address) {
    r.explain(function, "the range is not within one managed allocation: it begins " +
                            lockstep::runtime::describe_place(*r.memory, address));
    return cudaErrorInvalidValue;
  }
  return size == 0 ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t check_location(const Runtime& r, const cudaMemLocation& location) {
  if (location.type != cudaMemLocationTypeDevice) return cudaSuccess;
  return location.id >= 0 && location.id < static_cast<int>(r.devices.size())
             ? cudaSuccess
             : cudaErrorInvalidDevice;
}

}  // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_stream(r, d, "cudaMemPrefetchAsync", stream);
        error != cudaSuccess)
      return error;
    if (size == 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_location(r, location); error != cudaSuccess) return error;
    return check_managed(r, "cudaMemPrefetchAsync", pointer, size);
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy ||
        location.type == cudaMemLocationTypeInvalid)
      return cudaErrorInvalidValue;
    if (size == 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_unsafe(r, "cudaMemAdvise"); error != cudaSuccess)
      return error;
    const bool has_location = advice == cudaMemAdviseSetPreferredLocation ||
                              advice == cudaMemAdviseSetAccessedBy ||
                              advice == cudaMemAdviseUnsetAccessedBy;
    if (has_location && check_location(r, location) != cudaSuccess) return cudaErrorInvalidValue;
    return check_managed(r, "cudaMemAdvise", pointer, size);
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaMemPrefetchAsync, _ptsz)
