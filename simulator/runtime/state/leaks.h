// Memory that the program has allocated and never frees: cudaMalloc and its kin, and malloc() in
// kernels.
//
// Looked at when the process ends and when a device is reset, if check::kLeaks is among the checks
// then. A device that has failed is left out: its program cannot free anything any more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class Leaks {
 public:
  // `function` of the API has allocated it; `caller`: the address that it returns to.
  void allocated(const memory::Allocation& a, const char* function, const void* caller);
  void freed(memory::Address address) { host_.erase(address); }
  // What a launch has allocated; some of it may be free again.
  void allocated(std::vector<engine::HeapAllocation> heap, const memory::DeviceMemory& memory);

  // One finding a place in the program for what of a device is still allocated. Those of the host's
  // calls first.
  std::vector<check::Finding> find(const memory::DeviceMemory& memory, int device) const;
  void clear();

 private:
  struct Host {
    std::uint64_t id = 0;  // addresses may be used again
    const char* function = nullptr;
    const void* caller = nullptr;
  };
  struct Heap {
    std::uint64_t id = 0;
    check::Finding by;
  };
  std::map<memory::Address, Host> host_;
  std::map<memory::Address, Heap> heap_;
  std::size_t sweep_ = 1024;  // heap_ is freed of what has been freed when it is as large
};

// "a call at main.cu:21" for the address that a call returns to, if the program has debug
// information and the system has libdw; else "a call at ./program+0x1234 (addr2line -Cfe ./program
// 0x1234 names the line)". Both with the function if it is exported.
std::string describe_caller(const void* caller);
// The same of an instruction of the program, by the address behind it: "at main.cu:21, in main".
// Functions that are not exported are named, too, if the program has symbols.
std::string describe_host_code(const void* behind);

}  // namespace lockstep::runtime
