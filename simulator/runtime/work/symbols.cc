#include "simulator/runtime/work/symbols.h"

#include <string>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {

cudaError_t find_symbol(Runtime& r, Device& d, const char* function, const void* symbol,
                        const memory::Allocation** result) {
  if (VariableEntry* variable = r.modules.find_variable(symbol)) {
    const cudaError_t error = r.modules.get(r, *variable, d.ordinal, result);
    return error;
  }
  // A managed variable's symbol is the address of the variable itself.
  const memory::Allocation* a = r.memory->find(reinterpret_cast<memory::Address>(symbol));
  if (a != nullptr && !a->freed && a->kind == memory::Kind::kManaged && !a->name.empty() &&
      a->base == reinterpret_cast<memory::Address>(symbol)) {
    *result = a;
    return cudaSuccess;
  }
  r.explain(function,
            "no variable is registered at this address; pass the variable itself, not a pointer to "
            "device memory");
  return cudaErrorInvalidSymbol;
}

cudaError_t locate_symbol(Runtime& r, Device& d, const char* function, const void* symbol,
                          std::size_t size, std::size_t offset, void** at) {
  const memory::Allocation* a = nullptr;
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

}  // namespace lockstep::runtime
