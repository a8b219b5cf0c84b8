// What translated code does by itself where the engine answers, before a run of operations begins,
// that nothing is left to check: loads of shared memory, values that are the same in all lanes, and
// numbers of threads. Where it answers no, the handlers execute the run's operations one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/program/operation.h"

namespace lockstep::translate {

// How an operation that is not arithmetic becomes part of a run.
enum class Lean : std::uint8_t {
  kNo,
  kWord,     // one word of shared memory for each lane
  kValue,    // 4 or 8 bytes that are the same in all lanes: a parameter, a variable at a constant
             // address, the number of a block, a size
  kThreads,  // the number of each thread in its block, or of its lane
};
Lean lean_of(const program::Op& op);

// All loads of a run by one address register, which has 32 bits.
struct Window {
  program::Slot address = program::kNoSlot;
  std::int32_t first = 0, last = 0;  // the lowest and the highest offset, multiples of 4
};
// Where its lanes find their words. Of each eight lanes: either each has one of the eight words
// from `from`, or `scattered` is not 0 and each has its own number of bytes from there.
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
  bool (*value)(engine::Warp& warp, const program::Op& op, std::uint64_t& value) = nullptr;
  bool (*threads)(engine::Warp& warp, const program::Op& op, ThreadNumbers& numbers) = nullptr;
};

}  // namespace lockstep::translate
