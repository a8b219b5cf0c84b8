// What translated code does by itself although it is no arithmetic. Values that a block's threads
// share, it reads where the engine keeps them. Of loads, and of numbers of threads, it asks the
// engine before a run of operations begins. Where the answer is that something is left to check,
// the handlers execute the run's operations one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/program/operation.h"
#include "simulator/program/program.h"

namespace lockstep::translate {

// How an operation that is not arithmetic becomes part of a run.
enum class Lean : std::uint8_t {
  kNo,
  kWord,      // words of shared memory for each lane: one, or those of a vector
  kWide,      // the same of 64 bits each
  kVariable,  // 4 or 8 bytes of a variable at a constant address
  kGlobal,    // 4 or 8 bytes of global memory for each lane: by itself, in no run
  kUniform,   // 4 or 8 bytes that are the same in all lanes: a parameter, the number of a block, a
              // size
  kThreads,   // the number of each thread in its block, or of its lane
};
Lean lean_of(const program::Op& op);
// Where its element goes; kNoSlot: nowhere. Only loads of shared memory have several.
program::Slot element_slot(const program::Program& program, const program::Op& op, int element);

// Where the code finds what a block's threads share: the offset of a pointer in engine::Warp, and
// of what it points to.
struct UniformLayout {
  std::size_t pointer = 0;     // 0: there is none, and the operations stay with their handlers
  std::size_t parameters = 0;  // a pointer to the kernel's parameters
  std::size_t ctaid = 0, ntid = 0, nctaid = 0;  // three numbers of 32 bits
  std::size_t shuffles = 0, votes = 0;          // pointers to numbers of 64 bits
};

// Where the code finds what a host thread knows of allocations (engine::CachedRange). The pointers
// are in what UniformLayout::pointer points to.
struct RangesLayout {
  std::size_t pointer = 0;     // to the first of `count` ranges, one for each Op::origin % count
  std::size_t generation = 0;  // to a number of 64 bits: what the next two added were then
  std::size_t changes = 0, unwritten = 0;  // to numbers of 64 bits
  std::size_t count = 0;  // 0: there are none, and loads of global memory stay with their handlers
  std::size_t bytes = 0;  // of a range; of its fields:
  std::size_t begin = 0, delta = 0;  // 64 bits
  std::size_t silent = 0;            // 32 bits
  std::size_t overlapped = 0;        // of engine::Warp, 32 bits; not 0: handlers must look
};

// All loads of a run by one address register of 32 bits, or by one constant address; of shared
// memory, those of 64 bits by themselves.
struct Window {
  program::Slot address = program::kNoSlot;
  std::int32_t first = 0, last = 0;  // of the lowest word and of the highest: multiples of 4
  std::uint32_t alignment = 4;       // what the address must be a multiple of, without an offset
  bool wide = false;                 // kWide
  const program::Op* op = nullptr;   // one of the loads
};
// Where its lanes find their words. Of each eight lanes: either each has one of the eight words
// from `from`, or `scattered` is not 0 and each has its own number of bytes from there. Of a wide
// window all are scattered.
struct WindowPlace {
  std::uint32_t word[program::kWarpSize];
  const std::byte* from[4];
  std::uint8_t scattered[8];
};
// The values of `kThreads`.
using ThreadNumbers = std::uint32_t[program::kWarpSize];

// The engine's answers, for the active lanes of a warp. False: a handler must look. They change
// nothing but their last argument.
struct Answers {
  // All words from the first offset to behind the last lie in one variable, are aligned and have
  // been written, and nothing records who reads them.
  bool (*window)(engine::Warp& warp, const Window& window, WindowPlace& place) = nullptr;
  // The same of a constant address, and where it is in the host's memory.
  bool (*variable)(engine::Warp& warp, const Window& window, const std::byte*& place) = nullptr;
  bool (*threads)(engine::Warp& warp, const program::Op& op, ThreadNumbers& numbers) = nullptr;
};

}  // namespace lockstep::translate
