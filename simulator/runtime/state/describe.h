// Descriptions of addresses for messages: where a range lies, and what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/memory/describe.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

// The place of an address: "16 bytes past the end of cudaMalloc #3 (4096 bytes)", "in cudaMalloc #2
// (256 bytes), which has been freed".
std::string describe_place(const memory::DeviceMemory& memory, memory::Address address);

// A kernel's demangled name. A name that is not mangled is returned unchanged.
std::string demangled(const std::string& name);

// "0x1200..."
std::string hexadecimal(std::uint64_t value);

// A hash that identifies a module's texts: 16 hexadecimal digits.
std::string hash_of(const std::vector<std::string>& texts);

using memory::bytes;

}  // namespace lockstep::runtime
