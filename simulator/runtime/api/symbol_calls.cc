// __device__, __constant__ and __managed__ variables seen from the host: a symbol is the address of
// the variable's host shadow.
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/symbols.h"
#include "simulator/runtime/work/work.h"

using lockstep::memory::Allocation;
using lockstep::runtime::api;
using lockstep::runtime::Call;
using lockstep::runtime::Device;
using lockstep::runtime::find_symbol;
using lockstep::runtime::locate_symbol;
using lockstep::runtime::make_copy_work;
using lockstep::runtime::put;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;

namespace {

cudaError_t copy_to(const Call& call, const void* symbol, const void* from, size_t size,
                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return api(call.name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    void* to = nullptr;
    if (const cudaError_t error = locate_symbol(r, d, call.name, symbol, size, offset, &to);
        error != cudaSuccess)
      return error;
    if (size != 0 && kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    if (size == 0 && call.returns == Call::Returns::kWhenDone) return cudaSuccess;
    return put(r, d, call, stream, make_copy_work(to, size, from, size, size, 1, kind));
  });
}

cudaError_t copy_from(const Call& call, void* to, const void* symbol, size_t size, size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream) {
  return api(call.name, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    void* from = nullptr;
    if (const cudaError_t error = locate_symbol(r, d, call.name, symbol, size, offset, &from);
        error != cudaSuccess)
      return error;
    if (size != 0 && kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    if (size == 0 && call.returns == Call::Returns::kWhenDone) return cudaSuccess;
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
