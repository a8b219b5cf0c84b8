// __device__, __constant__ and __managed__ variables by the symbols that the program passes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// The memory of a variable on the device. Returns cudaErrorInvalidSymbol if `symbol` is not a
// variable.
cudaError_t find_symbol(Runtime& runtime, Device& device, const char* api_name, const void* symbol,
                        const memory::Allocation** result);
// The address of `size` bytes at `offset` of the variable. Returns cudaErrorInvalidValue if they
// exceed it.
cudaError_t locate_symbol(Runtime& runtime, Device& device, const char* api_name,
                          const void* symbol, std::size_t size, std::size_t offset, void** at);

}  // namespace lockstep::runtime
