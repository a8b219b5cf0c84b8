// cudaMalloc and its kin, and what can be asked about an address.
#include <cstring>
#include <string>
#include <utility>

#include "simulator/runtime/api/ipc.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/node_work.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/concurrency.h"
#include "simulator/runtime/work/executor.h"
#include "simulator/runtime/work/transfers.h"
#include "simulator/runtime/work/work.h"

using lockstep::engine::StreamName;
using lockstep::memory::Address;
using lockstep::memory::Allocation;
using lockstep::memory::Box;
using lockstep::memory::DeviceMemory;
using lockstep::memory::Kind;
using lockstep::runtime::allocate_work;
using lockstep::runtime::api;
using lockstep::runtime::bytes;
using lockstep::runtime::Call;
using lockstep::runtime::capture_work;
using lockstep::runtime::check_order;
using lockstep::runtime::check_stream;
using lockstep::runtime::check_unsafe;
using lockstep::runtime::describe_place;
using lockstep::runtime::Device;
using lockstep::runtime::finish_free;
using lockstep::runtime::free_work;
using lockstep::runtime::FreeWork;
using lockstep::runtime::GraphAllocation;
using lockstep::runtime::hexadecimal;
using lockstep::runtime::is_of_another_process;
using lockstep::runtime::Operation;
using lockstep::runtime::put_in_queue;
using lockstep::runtime::Reach;
using lockstep::runtime::release_memory;
using lockstep::runtime::run_all;
using lockstep::runtime::Runtime;
using lockstep::runtime::Stream;
using lockstep::runtime::Touch;
using lockstep::runtime::wait_for_all;
using lockstep::runtime::Work;

namespace {

constexpr std::uint64_t kAlignment = 256;  // what the programming guide promises
constexpr std::uint64_t kPitch =
    512;  // texture alignment, so that a pitched allocation can be bound

// Where the program called the API function in which this stands.
#define CALLER __builtin_return_address(0)

cudaError_t allocate(Runtime& r, Device& d, const char* function, const void* caller, void** result,
                     std::size_t size, Kind kind) {
  if (result == nullptr) return cudaErrorInvalidValue;
  if (size == 0) {
    *result = nullptr;
    return cudaSuccess;
  }
  if (const cudaError_t error = check_unsafe(r, function); error != cudaSuccess) return error;
  *result = nullptr;
  const Allocation* a = r.memory->allocate(size, kAlignment, kind, d.ordinal);
  if (a == nullptr && !r.freeing.empty()) {
    run_all(r);
    a = r.memory->allocate(size, kAlignment, kind, d.ordinal);
  }
  if (a == nullptr) {
    r.explain(function, "out of memory: " + bytes(size) + " asked for, " +
                            bytes(r.memory_capacity - r.memory->bytes_in_use(d.ordinal)) + " of " +
                            bytes(r.memory_capacity) +
                            " free (LOCKSTEP_MEMORY sets the GiB a device has)");
    return cudaErrorMemoryAllocation;
  }
  r.host_sees_memory |= kind == Kind::kManaged || kind == Kind::kPinned;
  if (caller != nullptr) r.note_allocated(*a, function, caller);
  *result = reinterpret_cast<void*>(a->base);
  return cudaSuccess;
}

// Whether this is the first byte of an allocation of a kind that this function frees.
template <class Accepts>
cudaError_t check_release(Runtime& r, const char* function, void* pointer, Accepts accepts) {
  finish_free(r, pointer);
  const Address address = reinterpret_cast<Address>(pointer);
  const auto refuse = [&](const std::string& why) {
    r.explain(function, hexadecimal(address) + " " + why);
    return cudaErrorInvalidValue;
  };
  const Allocation* a = r.memory->find(address);
  if (a == nullptr)
    return refuse("is no allocation: it lies " + describe_place(*r.memory, address));
  if (a->freed) return refuse("was freed before: it lies " + describe_place(*r.memory, address));
  if (a->base != address)
    return refuse("is not the start of an allocation: it lies " +
                  describe_place(*r.memory, address));
  if (is_of_another_process(pointer))
    return refuse("belongs to another process: cudaIpcCloseMemHandle closes it");
  if (!accepts(a->kind))
    return refuse("is " + describe(*a) + ", which this function does not free");
  return cudaSuccess;
}

// The same, and waits for all work before.
template <class Accepts>
cudaError_t release(Runtime& r, const char* function, void* pointer, Accepts accepts) {
  cudaError_t error = check_release(r, function, pointer, accepts);
  if (error != cudaSuccess) return error;
  wait_for_all(r);
  // A host function may have run, and another thread.
  error = check_release(r, function, pointer, accepts);
  if (error != cudaSuccess) return error;
  r.note_freed(reinterpret_cast<Address>(pointer), function);
  release_memory(r, pointer);
  return r.current().error;
}

std::size_t pitch_of(std::size_t width) { return (width + kPitch - 1) / kPitch * kPitch; }

cudaError_t allocate_pitched(Runtime& r, Device& d, const char* function, const void* caller,
                             void** result, std::size_t* pitch, std::size_t width,
                             std::size_t rows) {
  if (result == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  *pitch = rows == 0 ? 0 : pitch_of(width);  // as on an H200
  std::size_t size = 0;
  if ((rows != 0 && *pitch < width) || __builtin_mul_overflow(*pitch, rows, &size))
    return cudaErrorMemoryAllocation;
  return allocate(r, d, function, caller, result, size, Kind::kDevice);
}

// Whether a call may free memory that a graph has allocated (cudaGraphAddMemAllocNode).
cudaError_t check_graph_memory(Runtime& r, const char* function, const GraphAllocation& memory) {
  if (memory.live) return cudaSuccess;
  r.explain(function, memory.freed_by_owner
                          ? "the graph that allocates the memory frees it itself"
                          : "no launch has allocated the graph's memory since it was last freed");
  return cudaErrorInvalidValue;
}

bool freed_by_cuda_free(Kind kind) { return kind == Kind::kDevice || kind == Kind::kManaged; }

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  const void* const caller = CALLER;
  return api(__func__, pointer == nullptr ? Reach::kHost : Reach::kDevice,
             [&](Runtime& r, Device& d) {
               return allocate(r, d, "cudaMalloc", caller, pointer, size, Kind::kDevice);
             });
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  // The variant for per-thread default streams calls from within this library.
  const void* const caller = lockstep::runtime::thread_state().per_thread_default_stream
                                 ? lockstep::runtime::caller()
                                 : CALLER;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    if (s == nullptr || !s->capture) {
      cudaError_t error = check_stream(r, d, "cudaMallocAsync", stream);
      if (error != cudaSuccess) return error;
      error = allocate(r, d, "cudaMallocAsync", caller, pointer, size, Kind::kDevice);
      if (error != cudaSuccess || size == 0) return error;
      // The memory may be used by what comes after this in the stream.
      const Operation at = r.order.put(r.streams.find_stream(stream, d.ordinal)->order);
      r.pool_memory.insert(reinterpret_cast<Address>(*pointer));
      r.dependent_launches.end_chain();
      check_order(r, "cudaMallocAsync", at, Box::line(reinterpret_cast<Address>(*pointer), size),
                  Touch::kAllocates);
      return cudaSuccess;
    }
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (s->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (size == 0) {  // as on an H100
      *pointer = nullptr;
      return cudaSuccess;
    }
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {cudaMemLocationTypeDevice, {d.ordinal}};
    parameters.bytesize = size;
    Work work;
    if (const cudaError_t error =
            allocate_work(r, "cudaMallocAsync", *s->capture->graph, &parameters, &work);
        error != cudaSuccess)
      return error;
    *pointer = parameters.dptr;
    return capture_work(r, "cudaMallocAsync", *s, std::move(work));
  });
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  const void* const caller = CALLER;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (size != 0 && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
      return cudaErrorInvalidValue;
    return allocate(r, d, "cudaMallocManaged", caller, pointer, size, Kind::kManaged);
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  const void* const caller = CALLER;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) {
    return allocate_pitched(r, d, "cudaMallocPitch", caller, pointer, pitch, width, height);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  const void* const caller = CALLER;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (result == nullptr) return cudaErrorInvalidValue;
    std::size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
      return cudaErrorMemoryAllocation;
    const cudaError_t error = allocate_pitched(r, d, "cudaMalloc3D", caller, &result->ptr,
                                               &result->pitch, extent.width, rows);
    result->xsize = extent.width;
    result->ysize = extent.height;
    return error;
  });
}

cudaError_t cudaFree(void* pointer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaFree"); error != cudaSuccess) return error;
    if (pointer == nullptr) return cudaSuccess;
    // Memory of a pool goes back at once, as an H100 shows: cudaFree does not wait for its use.
    const auto of_a_graph = r.graph_memory.find(reinterpret_cast<Address>(pointer));
    if (!of_a_graph && r.pool_memory.count(reinterpret_cast<Address>(pointer)) == 0)
      return release(r, "cudaFree", pointer, freed_by_cuda_free);
    if (const cudaError_t error = check_release(r, "cudaFree", pointer, freed_by_cuda_free);
        error != cudaSuccess)
      return error;
    if (of_a_graph) {
      if (const cudaError_t error = check_graph_memory(r, "cudaFree", *of_a_graph);
          error != cudaSuccess)
        return error;
      r.graph_memory.end(r, *of_a_graph);
    }
    // What was put before is executed before: then the search for races knows what it accesses.
    run_all(r);
    const Allocation* const a = r.memory->find(reinterpret_cast<Address>(pointer));
    if (a == nullptr || a->freed) return cudaErrorInvalidValue;
    const Operation at{0, 0, r.order.host(), {StreamName::Kind::kNone}};
    r.dependent_launches.end_chain();
    check_order(r, "cudaFree", at, Box::line(a->base, a->size), Touch::kFrees);
    r.note_freed(a->base, "cudaFree");
    if (of_a_graph) {
      r.graph_memory.freed(r, *of_a_graph);
    } else {
      release_memory(r, pointer);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (Stream* s = r.streams.find_stream(stream, d.ordinal); s != nullptr && s->capture) {
      if (s->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      Work work;
      if (const cudaError_t error =
              free_work(r, "cudaFreeAsync", *s->capture->graph, pointer, &work);
          error != cudaSuccess)
        return error;
      return capture_work(r, "cudaFreeAsync", *s, std::move(work));
    }
    if (const cudaError_t error = check_stream(r, d, "cudaFreeAsync", stream); error != cudaSuccess)
      return error;
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = check_release(r, "cudaFreeAsync", pointer, freed_by_cuda_free);
        error != cudaSuccess)
      return error;
    if (r.memory->find(reinterpret_cast<Address>(pointer))->kind == Kind::kManaged) {
      r.explain("cudaFreeAsync", "managed memory is freed by cudaFree");
      return cudaErrorNotSupported;
    }
    const auto of_a_graph = r.graph_memory.find(reinterpret_cast<Address>(pointer));
    if (of_a_graph) {
      if (const cudaError_t error = check_graph_memory(r, "cudaFreeAsync", *of_a_graph);
          error != cudaSuccess)
        return error;
      r.graph_memory.end(r, *of_a_graph);
    }
    r.note_freed(reinterpret_cast<Address>(pointer), "cudaFreeAsync");
    r.dependent_launches.end_chain();
    return put_in_queue(r, d, Call::async("cudaFreeAsync"), stream, FreeWork{pointer, of_a_graph});
  });
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  const void* const caller = CALLER;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    constexpr unsigned kKnown =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (size != 0) {
      const cudaError_t error = check_unsafe(r, "cudaHostAlloc");
      if (error != cudaSuccess) return error;
      if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    }
    const cudaError_t error = allocate(r, d, "cudaHostAlloc", caller, pointer, size, Kind::kPinned);
    if (error == cudaSuccess && size != 0)
      r.host_flags[reinterpret_cast<Address>(*pointer)] = flags;
    return error;
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  const void* const caller = CALLER;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) {
    return allocate(r, d, "cudaMallocHost", caller, pointer, size, Kind::kPinned);
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaFreeHost"); error != cudaSuccess)
      return error;
    return pointer == nullptr ? cudaSuccess : release(r, "cudaFreeHost", pointer, [](Kind kind) {
      return kind == Kind::kPinned;
    });
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaHostRegister"); error != cudaSuccess)
      return error;
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (pointer == nullptr || size == 0 || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if (r.memory->register_host(pointer, size) == nullptr) {
      const Allocation* const a = r.memory->find(reinterpret_cast<Address>(pointer));
      return a != nullptr && !a->freed && a->kind != Kind::kRegistered
                 ? cudaErrorInvalidValue
                 : cudaErrorHostMemoryAlreadyRegistered;
    }
    r.host_sees_memory = true;
    r.host_flags[reinterpret_cast<Address>(pointer)] = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaHostUnregister"); error != cudaSuccess)
      return error;
    const Allocation* a = r.memory->find(reinterpret_cast<Address>(pointer));
    if (a != nullptr && !a->freed && a->kind != Kind::kRegistered) return cudaErrorInvalidValue;
    if (a == nullptr || a->kind != Kind::kRegistered) return cudaErrorHostMemoryNotRegistered;
    if (a->base != reinterpret_cast<Address>(pointer)) return cudaErrorInvalidValue;
    const Address base = a->base;
    wait_for_all(r);
    r.memory->release(base);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (device_pointer == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Allocation* a = r.memory->find(reinterpret_cast<Address>(host_pointer));
    if (a == nullptr || a->freed || (a->kind != Kind::kPinned && a->kind != Kind::kRegistered))
      return cudaErrorInvalidValue;
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    const Allocation* a = r.memory->find(reinterpret_cast<Address>(pointer));
    if (flags == nullptr || a == nullptr || a->freed ||
        (a->kind != Kind::kPinned && a->kind != Kind::kRegistered && a->kind != Kind::kManaged))
      return cudaErrorInvalidValue;
    const auto it = r.host_flags.find(a->base);
    *flags = (it == r.host_flags.end() ? 0 : it->second) | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    std::size_t left = r.memory_capacity - r.memory->bytes_in_use(d.ordinal);
    for (const auto& [address, operation] : r.freeing) {
      if (const Allocation* a = r.memory->find(address); a->device == d.ordinal) left += a->size;
    }
    // Either pointer may be null, as on an H200.
    if (free != nullptr) *free = left;
    if (total != nullptr) *total = r.memory_capacity;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return api(__func__, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    void* const p = const_cast<void*>(pointer);
    std::memset(attributes, 0, sizeof *attributes);
    const Allocation* a = r.memory->find(reinterpret_cast<Address>(pointer));
    if (a == nullptr || a->freed) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = p;
      return cudaSuccess;
    }
    attributes->device = a->device;
    attributes->devicePointer = p;
    switch (a->kind) {
      case Kind::kDevice:
      case Kind::kVariable:
      case Kind::kConstant: attributes->type = cudaMemoryTypeDevice; break;
      case Kind::kManaged:
        attributes->type = cudaMemoryTypeManaged;
        attributes->hostPointer = p;
        break;
      case Kind::kPinned:
      case Kind::kRegistered:
        attributes->type = cudaMemoryTypeHost;
        attributes->hostPointer = p;
        break;
    }
    return cudaSuccess;
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaMallocAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaFreeAsync, _ptsz)
