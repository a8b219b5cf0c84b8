// Detects memory that the program allocates and never frees: by cudaMalloc and related functions,
// and by malloc() in kernels.
//
// The check is made when the process ends and when a device is reset, if check::kLeaks is enabled
// then. A device that has failed is omitted: its program cannot free anything any more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class Leaks {
 public:
  // `function` of the API has allocated it; `caller` is the return address.
  void allocated(const memory::Allocation& a, const char* function, const void* caller);
  void freed(memory::Address address) { host_.erase(address); }
  // Adds the allocations of a launch, some of which may already be freed.
  void allocated(std::vector<engine::HeapAllocation> heap, const memory::DeviceMemory& memory);

  // One finding for each place in the program whose allocations on a device still exist. Host calls
  // come first.
  std::vector<check::Finding> find(const memory::DeviceMemory& memory, int device) const;
  void clear();

 private:
  struct Host {
    std::uint64_t id = 0;  // addresses may be reused
    const char* function = nullptr;
    const void* caller = nullptr;
  };
  struct Heap {
    std::uint64_t id = 0;
    check::Finding by;
  };
  std::map<memory::Address, Host> host_;
  std::map<memory::Address, Heap> heap_;
  std::size_t sweep_ = 1024;  // heap_ is cleaned of freed entries when it has this size
};

// "a call at main.cu:21" for a return address, if the program has debug information and the system
// has libdw. Otherwise "a call at ./program+0x1234 (addr2line -Cfe ./program 0x1234 names the
// line)". Both include the function if it is exported.
std::string describe_caller(const void* caller);
// As describe_caller(), for an instruction of the program, by the address behind it: "at
// main.cu:21, in main". If the program has symbols, functions that are not exported are named, too.
std::string describe_host_code(const void* behind);

}  // namespace lockstep::runtime
