// The category of an opcode, and its control flow. Users of the instruction set test these first.
// Both are defined in opcodes.inc.
//
// Plain data without any standard-library type, as opcode.h.
#pragma once

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// Each category belongs to one pass of the compiler and one folder of handlers.
enum class Category : std::uint8_t {
  // From registers to registers only (9.7.1 to 9.7.8, and parts of 9.7.9).
  kArithmetic,         // of every type
  kIntegerArithmetic,  // of integers alone
  kCarry,              // reads the condition code
  kApproximate,        // elementary functions within a bound that the manual states
  kBits,               // logic, shifts, bit fields
  kCompare,
  kMove,
  kConvert,
  kVideo,
  // Memory (9.7.9) and addresses.
  kLoadStore,
  kAtomic,
  kMultimem,        // one address for the memory of several devices (9.7.9.14)
  kAddress,         // conversions between state spaces
  kClusterAddress,  // addresses in other blocks of the cluster
  kCachePolicy,     // creates a value that only caches use
  // Hints to the hardware, without an effect on values, memory or control flow.
  kCacheHint,
  kHint,
  // Control flow.
  kControl,
  kCall,
  kStack,
  // Among threads.
  kFence,           // between threads, proxies or grids
  kBarrier,         // of a block
  kClusterBarrier,  // of a cluster
  kCollective,      // of a warp's lanes
  kMbarrier,
  kAsyncCopy,
  // Matrices that the lanes of a warp hold together.
  kMatrix,
  kMatrixLoadStore,
  kWarpgroup,  // matrices of four warps, asynchronously; and the number of their threads' registers
  kTensorCopy,    // copies through a tensor map, and changes of tensor maps
  kTensorMemory,  // tcgen05: tensor memory, multiplication there, and its synchronisation
  // Textures and surfaces.
  kTexture,
  kSurface,
  kImageQuery,
};

enum class Flow : std::uint8_t {
  kNext,      // the next instruction
  kBranches,  // one of its targets or, if the guard is false, the next instruction
  kCalls,     // another function, then the next instruction
  kEnds,      // nothing: the thread or the function ends
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

// Whether it computes from registers to registers: no memory, no other lane, no control flow.
constexpr bool computes(Category c) { return c <= Category::kVideo; }

// Whether the instruction reads or writes the memory at its address operand, when it is executed or
// later.
constexpr bool accesses_memory(Category c) {
  return c == Category::kLoadStore || c == Category::kAtomic || c == Category::kMultimem ||
         c == Category::kMbarrier || c == Category::kAsyncCopy || c == Category::kTensorCopy ||
         c == Category::kTensorMemory || c == Category::kMatrixLoadStore;
}

// Whether threads wait for each other there, or order their earlier accesses before others' later
// ones.
constexpr bool synchronises(Category c) {
  return c == Category::kFence || c == Category::kBarrier || c == Category::kClusterBarrier ||
         c == Category::kCollective || c == Category::kMbarrier;
}

}  // namespace lockstep::isa
