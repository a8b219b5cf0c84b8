// The category of an opcode, and its effect on control flow: the first things that users of the
// instruction set need from a row. Both come from opcodes.inc.
//
// Plain data without any standard-library type, like opcode.h.
#pragma once

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// One pass of the compiler and one folder of handlers implement each category.
enum class Category : std::uint8_t {
  // Registers in, registers out, without other effects (9.7.1 to 9.7.8, and the register
  // instructions of 9.7.9).
  kArithmetic,         // of every type
  kIntegerArithmetic,  // integers only
  kCarry,              // reads the condition code
  kApproximate,        // elementary functions, within the manual's error bounds
  kBits,               // logic, shifts, bit fields
  kCompare,
  kMove,
  kConvert,
  kVideo,
  // Memory (9.7.9) and addresses.
  kLoadStore,
  kAtomic,
  kMultimem,        // one address for memory of several devices (9.7.9.14)
  kAddress,         // conversions between state spaces
  kClusterAddress,  // addresses in other blocks of the cluster
  kCachePolicy,     // creates a value that only controls caches
  // Hints to the hardware: they change no value, memory or execution order.
  kCacheHint,
  kHint,
  // Control flow.
  kControl,
  kCall,
  kStack,
  // Communication between threads.
  kFence,           // between threads, proxies or grids
  kBarrier,         // of a block
  kClusterBarrier,  // of a cluster
  kCollective,      // of a warp's lanes
  kMbarrier,
  kAsyncCopy,
  // Matrices that are distributed over the lanes of a warp.
  kMatrix,
  kMatrixLoadStore,
  kWarpgroup,     // the same for four warps, asynchronously; the number of their threads' registers
  kTensorCopy,    // copies through a tensor map, and changes of tensor maps
  kTensorMemory,  // tcgen05: tensor memory, multiplication there, and its ordering
  // Textures and surfaces.
  kTexture,
  kSurface,
  kImageQuery,
};

enum class Flow : std::uint8_t {
  kNext,      // the next instruction
  kBranches,  // one of its targets, or the next instruction if its guard is false
  kCalls,     // another function, then the next instruction
  kEnds,      // none: the thread or the function ends
};

constexpr Category category_of(Opcode opcode) {
  switch (opcode) {
#define LOCKSTEP_OPCODE(name, category, flow) \
  case Opcode::k_##name:                      \
    return Category::category;
#include "simulator/isa/opcodes.inc"
#undef LOCKSTEP_OPCODE
    case Opcode::kInvalid:
    case Opcode::kCount: break;
  }
  return Category::kHint;
}

constexpr Flow flow_of(Opcode opcode) {
  switch (opcode) {
#define LOCKSTEP_OPCODE(name, category, flow) \
  case Opcode::k_##name:                      \
    return Flow::flow;
#include "simulator/isa/opcodes.inc"
#undef LOCKSTEP_OPCODE
    case Opcode::kInvalid:
    case Opcode::kCount: break;
  }
  return Flow::kNext;
}

// Registers in, registers out: no memory, no other lane, no control flow.
constexpr bool computes(Category c) { return c <= Category::kVideo; }

// Whether the operand in brackets names memory that the instruction reads or writes, immediately or
// asynchronously.
constexpr bool accesses_memory(Category c) {
  return c == Category::kLoadStore || c == Category::kAtomic || c == Category::kMultimem ||
         c == Category::kMbarrier || c == Category::kAsyncCopy || c == Category::kTensorCopy ||
         c == Category::kTensorMemory || c == Category::kMatrixLoadStore;
}

// Whether threads wait for each other at the instruction, or it orders their earlier accesses
// before later accesses of others.
constexpr bool synchronises(Category c) {
  return c == Category::kFence || c == Category::kBarrier || c == Category::kClusterBarrier ||
         c == Category::kCollective || c == Category::kMbarrier;
}

}  // namespace lockstep::isa
