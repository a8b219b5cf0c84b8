// Memory and events of other processes (CUDA Runtime API, cudaIpcGetMemHandle).
//
// A handle names a file of the process that gives it out: memory moves into one when its first
// handle is asked for. Another process of the same user opens that through /proc.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>

#include "simulator/runtime/api/ipc.h"
#include "simulator/runtime/api/live_handles.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/shared_event.h"
#include "simulator/runtime/work/executor.h"
#include "simulator/runtime/work/work.h"

using namespace lockstep::runtime;
using lockstep::memory::Address;
using lockstep::memory::Allocation;

namespace {

constexpr std::uint64_t kMemory = 0x314d454d43504951, kEvent = 0x3156454d43504951;

// What stands in a handle.
struct Handle {
  std::uint64_t kind = 0;
  std::int32_t process = 0, file = 0;
  std::uint64_t inode = 0;  // a descriptor's number may be another file's by now
  std::uint64_t size = 0, offset = 0;
  std::int32_t device = 0;
};
static_assert(sizeof(Handle) <= CUDA_IPC_HANDLE_SIZE);

bool fill(Handle& handle, std::uint64_t kind, int file, int device) {
  struct stat status;
  if (fstat(file, &status) != 0) return false;
  handle.kind = kind;
  handle.process = getpid();
  handle.file = file;
  handle.inode = status.st_ino;
  handle.device = device;
  return true;
}

// The file of a handle, to be closed; -1: it is there no more, or belongs to another user.
int open_file(const Handle& handle) {
  const std::string path =
      "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0 && status.st_ino == handle.inode) return file;
  if (file >= 0) close(file);
  return -1;
}

template <class Reserved>
Handle read(const Reserved& reserved) {
  Handle handle;
  std::memcpy(static_cast<void*>(&handle), reserved.reserved, sizeof handle);
  return handle;
}

template <class Reserved>
void write(const Handle& handle, Reserved* reserved) {
  std::memset(reserved->reserved, 0, sizeof reserved->reserved);
  std::memcpy(reserved->reserved, &handle, sizeof handle);
}

// Memory of other processes that is open here. Guarded by the device lock.
struct Opened {
  std::string handle;
  unsigned count = 0;
};
std::map<Address, Opened>& opened() {
  static auto* const all = new std::map<Address, Opened>;
  return *all;
}

// A mutant's process has the same files as the one that it was forked from.
cudaError_t refuse_mutants(Runtime& r, const char* function) {
  if (r.interceptor == nullptr) return cudaSuccess;
  r.explain(function, "memory and events between processes are not supported by lockstep mutate");
  return cudaErrorNotSupported;
}

}  // namespace

namespace lockstep::runtime {
bool is_of_another_process(const void* pointer) {
  return opened().count(reinterpret_cast<Address>(pointer)) != 0;
}
}  // namespace lockstep::runtime

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* result, void* pointer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    const Address address = reinterpret_cast<Address>(pointer);
    const Allocation* const a = r.memory->find(address);
    if (const cudaError_t error = refuse_mutants(r, "cudaIpcGetMemHandle"); error != cudaSuccess)
      return error;
    const bool fits = result != nullptr && a != nullptr && !a->freed && a->base == address &&
                      a->kind == lockstep::memory::Kind::kDevice && a->name.empty() &&
                      r.pool_memory.count(address) == 0 && !r.graph_memory.find(address);
    if (!fits) {
      r.explain("cudaIpcGetMemHandle", "the address is not that of memory of cudaMalloc");
      return cudaErrorInvalidValue;
    }
    const int file = r.memory->share(address);
    Handle handle;
    if (file < 0 || !fill(handle, kMemory, file, a->device)) {
      r.explain("cudaIpcGetMemHandle", std::strerror(errno));
      return cudaErrorMemoryAllocation;
    }
    handle.size = a->size;
    handle.offset = a->base % 4096;
    r.host_sees_memory = true;  // another process may wait for what is put
    write(handle, result);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t reserved, unsigned flags) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = refuse_mutants(r, "cudaIpcOpenMemHandle"); error != cudaSuccess)
      return error;
    const Handle handle = read(reserved);
    if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess || handle.kind != kMemory ||
        !r.device_exists(handle.device))
      return cudaErrorInvalidValue;
    if (handle.process == getpid()) {
      r.explain("cudaIpcOpenMemHandle", "the memory is this process's own");
      return cudaErrorDeviceUninitialized;
    }
    const std::string key(reserved.reserved, sizeof reserved.reserved);
    for (auto& [address, memory] : opened()) {
      const Allocation* const here = r.memory->find(address);
      if (memory.handle != key || here == nullptr || here->freed) continue;
      ++memory.count;
      *pointer = reinterpret_cast<void*>(address);
      return cudaSuccess;
    }
    const int file = open_file(handle);
    const Allocation* const a =
        file < 0 ? nullptr : r.memory->import(file, handle.offset, handle.size, handle.device);
    if (file >= 0) close(file);
    if (a == nullptr) {
      r.explain("cudaIpcOpenMemHandle",
                "the process that has the memory is gone, has freed it, or is another user's");
      return cudaErrorMapBufferObjectFailed;
    }
    opened()[a->base] = {key, 1};
    r.host_sees_memory = true;
    *pointer = reinterpret_cast<void*>(a->base);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    const auto it = opened().find(reinterpret_cast<Address>(pointer));
    if (it == opened().end()) return cudaErrorInvalidValue;
    if (--it->second.count != 0) return cudaSuccess;
    opened().erase(it);
    wait_for_all(r);
    release_memory(r, pointer);
    return r.current().error;
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* result, cudaEvent_t event) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = refuse_mutants(r, "cudaIpcGetEventHandle"); error != cudaSuccess)
      return error;
    const Event* const e = r.streams.find_event(event);
    if (result == nullptr) return cudaErrorInvalidValue;
    if (e == nullptr || !e->shared) {
      r.explain("cudaIpcGetEventHandle", "the event was not made with cudaEventInterprocess");
      return cudaErrorInvalidResourceHandle;
    }
    Handle handle;
    if (!fill(handle, kEvent, e->shared->file, e->device)) return cudaErrorMapBufferObjectFailed;
    write(handle, result);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t reserved) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = refuse_mutants(r, "cudaIpcOpenEventHandle"); error != cudaSuccess)
      return error;
    const Handle handle = read(reserved);
    if (event == nullptr || handle.kind != kEvent || !r.device_exists(handle.device))
      return cudaErrorInvalidValue;
    if (handle.process == getpid()) {
      r.explain("cudaIpcOpenEventHandle", "the event is this process's own");
      return cudaErrorDeviceUninitialized;
    }
    const int file = open_file(handle);
    auto shared = file < 0 ? nullptr : SharedEvent::open(file);
    if (shared == nullptr) {
      r.explain("cudaIpcOpenEventHandle",
                "the process that has the event is gone, has destroyed it, or is another user's");
      return cudaErrorMapBufferObjectFailed;
    }
    *event = r.streams.create_event(cudaEventInterprocess | cudaEventDisableTiming, handle.device);
    r.streams.find_event(*event)->shared = std::move(shared);
    ++live_handles();
    return cudaSuccess;
  });
}

}  // extern "C"
