// Proofs about a kernel's accesses before its launch. They hold for every schedule and all data, at
// the launch's shape and parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// The bytes from `begin` up to, not including, `end`.
struct Extent {
  std::uint64_t begin = 0, end = 0;
};

struct Memory {
  // The part that kernels may access of the live allocation at a global address.
  std::function<std::optional<Extent>(std::uint64_t)> allocation;
  std::vector<Extent> shared;  // variables, by offset
};

struct Access {
  std::uint32_t pc = 0;
  isa::Space space = isa::Space::kNone;
  std::uint32_t size = 0;  // bytes a lane, of all elements of a matrix
  bool reads = false, writes = false;
  bool strong = false;     // volatile, atomic, or with a memory order
  bool atomic = false;     // reads and writes at once, with a scope of the whole grid
  bool in_bounds = false;  // all bytes lie in one allocation or variable
  bool aligned = false;    // every address is a multiple of `size`
  bool apart = false;  // no race by this access: with threads of the block in shared memory, of the
                       // grid in global memory
  bool apart_unless_read =
      false;                   // global memory: as `apart`, but for loads with unknown addresses
  bool stored_before = false;  // reads shared memory: each byte is stored to before it is read
  bool initialised = false;    // reads: each byte has been written (claim_initialised())
  bool known = false;          // the address does not depend on data
  Extent bytes;                // if in_bounds: all bytes that it may access
  std::vector<bool> threads;   // if known: the threads of a block that may execute it

  // Whether it is an atomic that does not race with atomics of `bytes` bytes, wherever these go. 0:
  // there are none.
  bool is_atomic_of(std::uint32_t bytes) const { return atomic && (bytes == 0 || bytes == size); }
};

struct Certificate {
  // Loads, stores and atomics of global, shared and constant memory, and wmma.load and wmma.store
  // of global memory, by pc.
  std::vector<Access> accesses;
  // Every access of the kernel to shared memory is `apart`, so a search for races there is
  // unnecessary.
  bool shared_apart = false;
  // The same for global memory and the threads of this launch.
  bool global_apart = false;
  bool followed = false;  // Graph::make() accepted the kernel
  bool others = true;     // the kernel accesses memory in other ways, or was not examined
  bool reads_local = false;
  // A thread may order its accesses for other threads, by a fence or by .acquire and .release.
  bool orders = false;
  bool registers_written = false;  // every register is written before it is read
  // Whether the checks may ignore accesses to shared memory: no access races, and none orders other
  // accesses.
  bool is_shared_silent() const;
  // The bytes of global memory in which threads of the launch may race, or order other accesses.
  // `if_read`: only if a load with an unknown address reads there.
  struct Contested {
    std::vector<Extent> always, if_read;
  };
  // nullopt: they may anywhere.
  std::optional<Contested> contested() const;
  const Access* find(std::uint32_t pc) const;
};

// Whether an operation may access memory other than by an access that the proof examines: by a
// generic address, asynchronously, as a matrix that is not a fragment in global memory, or as an
// image. Parameters do not count.
bool touches_memory_otherwise(const program::Op& op);

// Proves nothing about a kernel that Graph::make() refuses.
Certificate prove(const program::Program& program, const program::Function& kernel,
                  const Shape& shape, const Memory& memory);

// Sets Access::initialised at the beginning of a launch. No other work may write the memory during
// the launch. `written`: whether every byte of an extent of global memory has been written. A load
// of memory that the kernel stores to is initialised only if all loads of the kernel are, because
// storing an unwritten value makes its bytes unwritten.
void claim_initialised(Certificate& certificate, const std::function<bool(const Extent&)>& written);

}  // namespace lockstep::proof
