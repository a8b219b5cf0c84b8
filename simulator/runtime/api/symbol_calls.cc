// __device__, __constant__ and __managed__ variables seen from the host: a symbol is the address of
// the variable's host shadow.
#include <string>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/work.h"

using lockstep::memory::Allocation;
using lockstep::runtime::api;
using lockstep::runtime::bytes;
using lockstep::runtime::Call;
using lockstep::runtime::Device;
using lockstep::runtime::locate_symbol;
using lockstep::runtime::make_copy_work;
using lockstep::runtime::put;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::VariableEntry;

namespace {

cudaError_t find_symbol(Runtime& r, Device& d, const char* function, const void* symbol,
                        const Allocation** result) {
  if (VariableEntry* variable = r.modules.find_variable(symbol)) {
    const cudaError_t error = r.modules.get(r, *variable, d.ordinal, result);
    return error;
  }
  // A managed variable's symbol is the address of the variable itself.
  const Allocation* a = r.memory->find(reinterpret_cast<lockstep::memory::Address>(symbol));
  if (a != nullptr && !a->freed && a->kind == lockstep::memory::Kind::kManaged &&
      !a->name.empty() && a->base == reinterpret_cast<lockstep::memory::Address>(symbol)) {
    *result = a;
    return cudaSuccess;
  }
  r.explain(function,
            "no variable is registered at this address; pass the variable itself, not a pointer to "
            "device memory");
  return cudaErrorInvalidSymbol;
}

}  // namespace

cudaError_t lockstep::runtime::locate_symbol(Runtime& r, Device& d, const char* function,
                                             const void* symbol, std::size_t size,
                                             std::size_t offset, void** at) {
  const Allocation* a = nullptr;
  if (const cudaError_t error = find_symbol(r, d, function, symbol, &a); error != cudaSuccess)
    return error;
  if (size != 0 && (offset > a->size || size > a->size - offset)) {
    r.explain(function,
              bytes(size) + " at offset " + std::to_string(offset) + " leave " + describe(*a));
    return cudaErrorInvalidValue;
  }
  *at = reinterpret_cast<void*>(a->base + offset);
  return cudaSuccess;
}

namespace {

cudaError_t copy_to(const Call& call, const void* symbol, const void* from, size_t size,
                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return api(call.name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    void* to = nullptr;
    if (const cudaError_t error = locate_symbol(r, d, call.name, symbol, size, offset, &to);
        error != cudaSuccess)
      return error;
    return put(r, d, call, stream, make_copy_work(to, size, from, size, size, 1, kind));
  });
}

cudaError_t copy_from(const Call& call, void* to, const void* symbol, size_t size, size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream) {
  return api(call.name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    void* from = nullptr;
    if (const cudaError_t error = locate_symbol(r, d, call.name, symbol, size, offset, &from);
        error != cudaSuccess)
      return error;
    return put(r, d, call, stream, make_copy_work(to, size, from, size, size, 1, kind));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                               cudaMemcpyKind kind) {
  return copy_to(Call::blocking(__func__), symbol, from, size, offset, kind, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to(Call::async(__func__), symbol, from, size, offset, kind, stream);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_from(Call::blocking(__func__), to, symbol, size, offset, kind, nullptr);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_from(Call::async(__func__), to, symbol, size, offset, kind, stream);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (address == nullptr) return cudaErrorInvalidValue;
    const Allocation* a = nullptr;
    if (const cudaError_t error = find_symbol(r, d, "cudaGetSymbolAddress", symbol, &a);
        error != cudaSuccess)
      return error;
    *address = reinterpret_cast<void*>(a->base);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (size == nullptr) return cudaErrorInvalidValue;
    const Allocation* a = nullptr;
    if (const cudaError_t error = find_symbol(r, d, "cudaGetSymbolSize", symbol, &a);
        error != cudaSuccess)
      return error;
    *size = a->size;
    return cudaSuccess;
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaMemcpyToSymbol, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)
LOCKSTEP_PER_THREAD(cudaMemcpyFromSymbol, _ptds)
LOCKSTEP_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)
