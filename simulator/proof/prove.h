// Proofs about a kernel's memory accesses before it is launched. They hold for every schedule and
// all data, at the launch's shape and parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// The bytes [begin, end).
struct Extent {
  std::uint64_t begin = 0, end = 0;
};

struct Memory {
  // The part of a live allocation that kernels may access and that contains a global address.
  std::function<std::optional<Extent>(std::uint64_t)> allocation;
  std::vector<Extent> shared;  // variables, by offset
};

struct Access {
  std::uint32_t pc = 0;
  isa::Space space = isa::Space::kNone;
  std::uint32_t size = 0;  // bytes for each lane
  bool reads = false, writes = false;
  bool strong = false;     // volatile, atomic, or with a memory order
  bool atomic = false;     // an atomic read-modify-write with a scope of the grid
  bool in_bounds = false;  // all bytes lie in one allocation or variable
  bool aligned = false;    // every address is a multiple of `size`
  bool apart = false;  // no two threads race by this access: threads of a block in shared memory,
                       // of the grid in global memory
  bool stored_before = false;  // a read of shared memory, of which every byte is stored to before
  bool initialised = false;    // a read of bytes that have all been written (claim_initialised())
  bool known = false;          // the address does not depend on data
  Extent bytes;                // if in_bounds: the most that it may access
  std::vector<bool> threads;   // if known: by thread of a block, whether it may execute the access
};

struct Certificate {
  std::vector<Access> accesses;  // loads, stores and atomics of global and shared memory, by pc
  // Whether every access to shared memory is `apart`, so the search for races need not run there.
  bool shared_apart = false;
  // The same for global memory, among the threads of the launch.
  bool global_apart = false;
  bool followed = false;  // Graph::make() accepted the kernel
  bool others = true;     // the kernel accesses memory in other ways, or was not analysed
  bool reads_local = false;
  // Whether a thread may make its accesses visible to others by an access of its own: by a fence,
  // or by .acquire and .release.
  bool orders = false;
  bool registers_written = false;  // every register is written before it is read
  // Whether the search for races may ignore accesses to shared memory: none races, and none orders
  // other accesses.
  bool is_shared_silent() const;
  const Access* find(std::uint32_t pc) const;
};

// Whether an operation may access memory other than by a load, store or atomic that is analysed: by
// a generic address, asynchronously, as a matrix or an image. Parameters do not count.
bool touches_memory_otherwise(const program::Op& op);

// Nothing is proved about a kernel that Graph::make() refuses.
Certificate prove(const program::Program& program, const program::Function& kernel,
                  const Shape& shape, const Memory& memory);

// Sets Access::initialised at the start of a launch. Nobody else may write its memory while it
// runs. `written`: whether every byte of an extent of global memory has been written by now. A load
// of memory that the kernel also stores to is initialised only if all loads of the kernel are: a
// store of an uninitialised value makes its bytes unwritten.
void claim_initialised(Certificate& certificate, const std::function<bool(const Extent&)>& written);

}  // namespace lockstep::proof
