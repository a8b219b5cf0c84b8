// __device__, __constant__ and __managed__ variables seen from the host: a symbol is the address of the variable's host shadow.
#include <string>

#include "simulator/runtime/describe.h"
#include "simulator/runtime/runtime.h"
#include "simulator/runtime/transfers.h"

using lockstep::memory::Allocation;
using lockstep::runtime::api;
using lockstep::runtime::Block;
using lockstep::runtime::bytes;
using lockstep::runtime::check_stream;
using lockstep::runtime::copy;
using lockstep::runtime::Device;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::Shape;
using lockstep::runtime::VariableEntry;

namespace {

cudaError_t find_symbol(Runtime& r, Device& d, const char* function, const void* symbol, const Allocation** result) {
  if (VariableEntry* variable = r.modules.find_variable(symbol)) {
    const cudaError_t error = r.modules.get(r, *variable, d.ordinal, result);
    return error;
  }
  // A managed variable's symbol is the address of the variable itself.
  const Allocation* a = r.memory->find(reinterpret_cast<lockstep::memory::Address>(symbol));
  if (a != nullptr && !a->freed && a->kind == lockstep::memory::Kind::kManaged && !a->name.empty() &&
      a->base == reinterpret_cast<lockstep::memory::Address>(symbol)) {
    *result = a;
    return cudaSuccess;
  }
  r.explain(function, "no variable is registered at this address; pass the variable itself, not a pointer to device memory");
  return cudaErrorInvalidSymbol;
}

cudaError_t locate(Runtime& r, Device& d, const char* function, const void* symbol, size_t size, size_t offset, void** at) {
  const Allocation* a = nullptr;
  if (const cudaError_t error = find_symbol(r, d, function, symbol, &a); error != cudaSuccess) return error;
  if (size != 0 && (offset > a->size || size > a->size - offset)) {
    r.explain(function, bytes(size) + " at offset " + std::to_string(offset) + " leave " + lockstep::runtime::describe(*a));
    return cudaErrorInvalidValue;
  }
  *at = reinterpret_cast<void*>(a->base + offset);
  return cudaSuccess;
}

cudaError_t copy_to(const char* function, const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind kind,
                    cudaStream_t stream) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_stream(r, d, function, stream); error != cudaSuccess) return error;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    void* to = nullptr;
    if (const cudaError_t error = locate(r, d, function, symbol, size, offset, &to); error != cudaSuccess) return error;
    return copy(r, function, Block{to, 0, 0}, Block{const_cast<void*>(from), 0, 0}, Shape{size, 1, 1}, kind);
  });
}

cudaError_t copy_from(const char* function, void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (const cudaError_t error = check_stream(r, d, function, stream); error != cudaSuccess) return error;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    void* from = nullptr;
    if (const cudaError_t error = locate(r, d, function, symbol, size, offset, &from); error != cudaSuccess) return error;
    return copy(r, function, Block{to, 0, 0}, Block{from, 0, 0}, Shape{size, 1, 1}, kind);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind kind) {
  return copy_to(__func__, symbol, from, size, offset, kind, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to(__func__, symbol, from, size, offset, kind, stream);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
  return copy_from(__func__, to, symbol, size, offset, kind, nullptr);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_from(__func__, to, symbol, size, offset, kind, stream);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (address == nullptr) return cudaErrorInvalidValue;
    const Allocation* a = nullptr;
    if (const cudaError_t error = find_symbol(r, d, "cudaGetSymbolAddress", symbol, &a); error != cudaSuccess) return error;
    *address = reinterpret_cast<void*>(a->base);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (size == nullptr) return cudaErrorInvalidValue;
    const Allocation* a = nullptr;
    if (const cudaError_t error = find_symbol(r, d, "cudaGetSymbolSize", symbol, &a); error != cudaSuccess) return error;
    *size = a->size;
    return cudaSuccess;
  });
}

}  // extern "C"

LOCKSTEP_TWIN(cudaMemcpyToSymbol, _ptds)
LOCKSTEP_TWIN(cudaMemcpyToSymbolAsync, _ptsz)
LOCKSTEP_TWIN(cudaMemcpyFromSymbol, _ptds)
LOCKSTEP_TWIN(cudaMemcpyFromSymbolAsync, _ptsz)
