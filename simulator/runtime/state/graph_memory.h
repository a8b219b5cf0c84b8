// Memory that graphs allocate and free (CUDA C++ Programming Guide, "Graph Memory Nodes"; CUDA
// Runtime API, cudaGraphAddMemAllocNode).
//
// An allocation node decides the address when it is made. The memory is there from the execution
// of that node to the execution of what frees it: DeviceMemory::set_present(). Calls are checked
// earlier, when they are made: GraphAllocation::live is what they will have done by then.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class Runtime;

// What one allocation node allocates. The address lives as long as a node, an executable graph or
// an operation refers to it, or the memory has not been freed.
struct GraphAllocation {
  memory::Address base = 0;
  std::uint64_t size = 0;
  int device = 0;
  std::uint64_t owner = 0;        // Graph::id of the graph with the allocation node
  bool freed_by_owner = false;    // that graph has a free node for it
  bool freed_by_another = false;  // another graph has
  bool live = false;              // launched, and no call since then frees it
  const char* function = "";      // that made the node
  const void* caller = nullptr;   // where the program called it
  std::vector<cudaMemAccessDesc> access;

  GraphAllocation() = default;
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;
  ~GraphAllocation();
};

// All of the process. Guarded by the device lock.
class GraphMemory {
 public:
  // nullptr: the device has no memory left.
  std::shared_ptr<GraphAllocation> make(Runtime& runtime, std::uint64_t size, int device);
  // The allocation that begins there; nullptr: no graph's memory does.
  std::shared_ptr<GraphAllocation> find(memory::Address base) const;

  // A graph that allocates it and does not free it is launched; a call or another graph frees it.
  void begin(Runtime& runtime, const std::shared_ptr<GraphAllocation>& allocation);
  void end(Runtime& runtime, GraphAllocation& allocation);

  // An allocation node, or what frees the memory, is executed.
  void allocated(Runtime& runtime, const GraphAllocation& allocation);
  void freed(Runtime& runtime, const GraphAllocation& allocation);

  // cudaGraphMemAttributeType of a device, in bytes. `used`: allocated now. `reserved`: allocated
  // since it was last trimmed.
  struct Usage {
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  };
  Usage& usage(int device) { return usage_[device]; }
  // Gives back what is not allocated now.
  void trim(Runtime& runtime, int device);
  // The device is reset.
  void reset(int device);

 private:
  friend struct GraphAllocation;
  struct Known {
    std::weak_ptr<GraphAllocation> allocation;
    bool reserved = false;
  };
  void forget(const GraphAllocation& allocation, bool present);
  std::vector<std::shared_ptr<GraphAllocation>> all_of(int device) const;

  std::map<memory::Address, Known> known_;
  std::map<memory::Address, std::shared_ptr<GraphAllocation>> live_;
  std::map<int, Usage> usage_;
};

}  // namespace lockstep::runtime
