// Records which calls of the program allocated and freed memory, for findings about it.
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
  // The running call, `function` of the API, has allocated memory, or frees the memory that starts
  // at the address.
  void allocated(const memory::Allocation& a, const char* function,
                 const memory::DeviceMemory& memory);
  void freed(memory::Address address, const char* function);

  // "allocated by cudaMalloc" and "freed by cudaFree", with their frames, for the allocation that
  // contains the address or is nearest to it. Empty if no call is known.
  std::vector<check::HostStack> of(memory::Address address,
                                   const memory::DeviceMemory& memory) const;

 private:
  struct Call {
    const char* function = nullptr;
    const CallStack* stack = nullptr;
  };
  struct Life {
    std::uint64_t id = 0;  // addresses may be reused
    Call allocated, freed;
  };
  Call running(const char* function) { return {function, &*stacks_.insert(call_stack()).first}; }

  std::map<memory::Address, Life> lives_;  // by base
  std::set<CallStack> stacks_;             // shared, since few places of a program allocate
  std::size_t sweep_ = 1024;               // removes forgotten memory when lives_ has this size
};

// A stack with its frames. `what`: as in check::HostStack.
check::HostStack host_stack(std::string what, const CallStack& stack);
// The number of its frames with a source line.
std::size_t count_lines(const check::HostStack& stack);

}  // namespace lockstep::runtime
