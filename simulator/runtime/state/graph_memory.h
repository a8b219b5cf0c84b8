// Memory that graphs allocate and free (CUDA C++ Programming Guide, "Graph Memory Nodes"; CUDA
// Runtime API, cudaGraphAddMemAllocNode).
//
// An allocation node determines its address when it is created. The memory exists from the
// execution of that node to the execution of the operation that frees it:
// DeviceMemory::set_present(). Calls are checked earlier, when they are made: GraphAllocation::live
// is the state that earlier calls will have caused by then.
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

// The allocation of one allocation node. Its address is reserved while a node, an executable graph
// or an operation refers to it, or the memory has not been freed.
struct GraphAllocation {
  memory::Address base = 0;
  std::uint64_t size = 0;
  int device = 0;
  std::uint64_t owner = 0;        // Graph::id of the graph that contains the allocation node
  bool freed_by_owner = false;    // that graph has a free node for it
  bool freed_by_another = false;  // another graph has a free node for it
  bool live = false;              // launched, and no later call frees it
  const char* function = "";      // the function that created the node
  const void* caller = nullptr;   // the calling place in the program
  std::vector<cudaMemAccessDesc> access;

  GraphAllocation() = default;
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;
  ~GraphAllocation();
};

// All graph allocations of the process. Guarded by the device lock.
class GraphMemory {
 public:
  // Returns nullptr if the device is out of memory.
  std::shared_ptr<GraphAllocation> make(Runtime& runtime, std::uint64_t size, int device);
  // The allocation that starts at `base`; nullptr if no graph's memory does.
  std::shared_ptr<GraphAllocation> find(memory::Address base) const;

  // begin(): a graph is launched that allocates the memory and does not free it. end(): a call or
  // another graph frees it.
  void begin(Runtime& runtime, const std::shared_ptr<GraphAllocation>& allocation);
  void end(Runtime& runtime, GraphAllocation& allocation);

  // Call when an allocation node, or an operation that frees the memory, is executed.
  void allocated(Runtime& runtime, const GraphAllocation& allocation);
  void freed(Runtime& runtime, const GraphAllocation& allocation);

  // cudaGraphMemAttributeType of a device, in bytes. `used`: allocated now. `reserved`: allocated
  // since the last trim.
  struct Usage {
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  };
  Usage& usage(int device) { return usage_[device]; }
  // Releases the memory that is not allocated now.
  void trim(Runtime& runtime, int device);
  // Call when the device is reset.
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
