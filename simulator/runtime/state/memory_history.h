// Which calls of the program allocated and freed memory, for findings about it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/memory/device_memory.h"
#include "simulator/runtime/state/call_stack.h"

namespace lockstep::runtime {

class MemoryHistory {
 public:
  // The running call, `function` of the API, has allocated it, or frees what begins at the address.
  void allocated(const memory::Allocation& a, const char* function,
                 const memory::DeviceMemory& memory);
  void freed(memory::Address address, const char* function);

  // "allocated by cudaMalloc" and "freed by cudaFree" with their frames, for the allocation that
  // holds the address or that is described as nearest to it. Empty where no call is known.
  std::vector<check::HostStack> of(memory::Address address,
                                   const memory::DeviceMemory& memory) const;

 private:
  struct Call {
    const char* function = nullptr;
    const CallStack* stack = nullptr;
  };
  struct Life {
    std::uint64_t id = 0;  // addresses may be used again
    Call allocated, freed;
  };
  Call running(const char* function) { return {function, &*stacks_.insert(call_stack()).first}; }

  std::map<memory::Address, Life> lives_;  // by base
  std::set<CallStack> stacks_;             // few places of a program allocate
  std::size_t sweep_ = 1024;  // forgets what the memory has forgotten when lives_ is as large
};

// A stack with its frames. `what`: as check::HostStack has it.
check::HostStack host_stack(std::string what, const CallStack& stack);
// How many of its frames have a source line.
std::size_t count_lines(const check::HostStack& stack);

}  // namespace lockstep::runtime
