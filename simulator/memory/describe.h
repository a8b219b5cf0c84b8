// Descriptions of allocations, the same in every message.
#pragma once

#include <string>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {

// "1 byte", "2 bytes"
std::string bytes(std::uint64_t count);

// "cudaMalloc #3 (4096 bytes)" or "'weights' (64 bytes, __device__ variable)". For a buffer named
// by lockstepNameBuffer, which is a part of an allocation: "'y' (40 bytes within cudaMalloc #3 of
// 168 bytes)".
std::string describe(const Allocation& a);

}  // namespace lockstep::memory
