// __device__, __constant__ and __managed__ variables, as the program names them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// The memory of a variable on the device; cudaErrorInvalidSymbol where `symbol` is none.
cudaError_t find_symbol(Runtime& runtime, Device& device, const char* api_name, const void* symbol,
                        const memory::Allocation** result);
// Where `size` bytes at `offset` of it are; cudaErrorInvalidValue where they leave it.
cudaError_t locate_symbol(Runtime& runtime, Device& device, const char* api_name,
                          const void* symbol, std::size_t size, std::size_t offset, void** at);

}  // namespace lockstep::runtime
