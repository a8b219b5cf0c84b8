// What is proved of a kernel's accesses before it is launched: for every schedule and for all data,
// at the launch's shape and parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// The bytes from `begin` to before `end`.
struct Extent {
  std::uint64_t begin = 0, end = 0;
};

struct Memory {
  // The live allocation, as far as kernels may touch it, that holds a global address.
  std::function<std::optional<Extent>(std::uint64_t)> allocation;
  std::vector<Extent> shared;  // variables, by offset
};

struct Access {
  std::uint32_t pc = 0;
  isa::Space space = isa::Space::kNone;
  std::uint32_t size = 0;  // bytes a lane
  bool reads = false, writes = false;
  bool strong = false;     // volatile, atomic, or with a memory order
  bool atomic = false;     // reads and writes at once, for all threads of the grid
  bool in_bounds = false;  // all bytes lie in one allocation or variable
  bool aligned = false;    // every address is a multiple of `size`
  bool apart = false;      // no two threads race by this access: in shared memory those of a block,
                           // in global memory those of the grid
  bool stored_before = false;  // reads shared memory: every byte is stored to before it is read
  bool initialised = false;    // reads: every byte has been written (claim_initialised())
  bool known = false;          // the address does not depend on data
  Extent bytes;                // where in_bounds: what it may touch at most
  std::vector<bool> threads;   // where known: by thread of a block, those that may execute it
};

struct Certificate {
  std::vector<Access> accesses;  // loads, stores and atomics of global and shared memory, by pc
  // Every access of the kernel to shared memory is `apart`: the search for races has nothing to
  // find there.
  bool shared_apart = false;
  // The same of global memory, for the threads of the launch alone.
  bool global_apart = false;
  bool followed = false;  // Graph::make() took the kernel
  bool others = true;     // the kernel touches memory in other ways, or has not been looked at
  bool reads_local = false;
  // A thread may order its accesses for others by an access of its own: by a fence, or by .acquire
  // and .release.
  bool orders = false;
  bool registers_written = false;  // every register is written before it is read
  // Whether accesses to shared memory may go unseen: none races, and none lets others know of what
  // its thread has done.
  bool is_shared_silent() const;
  const Access* find(std::uint32_t pc) const;
};

// Whether an operation may touch memory otherwise than by a load, a store or an atomic that is
// looked at: by a generic address, asynchronously, as a matrix, as an image. Parameters do not
// count.
bool touches_memory_otherwise(const program::Op& op);

// Nothing is proved of a kernel that Graph::make() refuses.
Certificate prove(const program::Program& program, const program::Function& kernel,
                  const Shape& shape, const Memory& memory);

// Sets Access::initialised, at the begin of a launch whose memory nobody else writes while it runs.
// `written`: whether every byte of an extent of global memory has been written by now. A load of
// memory that the kernel stores to is initialised only if all loads of the kernel are: a store of a
// value that nobody has written leaves its bytes unwritten.
void claim_initialised(Certificate& certificate, const std::function<bool(const Extent&)>& written);

}  // namespace lockstep::proof
