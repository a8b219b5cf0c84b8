// What kind of instruction an opcode is, and how execution goes on after it: what consumers of the
// instruction set ask before they look at the rest of a row. Both come from opcodes.inc.
//
// Plain data without any standard-library type, as opcode.h.
#pragma once

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// One pass of the compiler, and one folder of handlers, answers for each.
enum class Category : std::uint8_t {
  // Registers in, registers out: nothing else changes (9.7.1 to 9.7.8, and what of 9.7.9 stays
  // among registers).
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
  kMultimem,        // one address, memory of several devices (9.7.9.14)
  kAddress,         // conversions between state spaces
  kClusterAddress,  // addresses in other blocks of the cluster
  kCachePolicy,     // makes a value that only caches look at
  // Advice to the hardware: no value, no memory and no order of execution changes by it.
  kCacheHint,
  kHint,
  // Order of execution.
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
  kWarpgroup,   // the same of four warps, asynchronously; and how many registers their threads have
  kTensorCopy,  // through a tensor map, and changes of such
  kTensorMemory,  // tcgen05: tensor memory, what multiplies there, and what orders the two
  // Textures and surfaces.
  kTexture,
  kSurface,
  kImageQuery,
};

enum class Flow : std::uint8_t {
  kNext,      // the next instruction
  kBranches,  // one of its targets, or under a guard that is false the next instruction
  kCalls,     // another function, and then the next instruction
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

// Registers in, registers out: no memory, no other lane, no order of execution.
constexpr bool computes(Category c) { return c <= Category::kVideo; }

// Whether the operand in brackets names memory that the instruction reads or writes when it runs,
// or a little later.
constexpr bool accesses_memory(Category c) {
  return c == Category::kLoadStore || c == Category::kAtomic || c == Category::kMultimem ||
         c == Category::kMbarrier || c == Category::kAsyncCopy || c == Category::kTensorCopy ||
         c == Category::kTensorMemory || c == Category::kMatrixLoadStore;
}

// Whether threads wait for one another there, or order what they do before with what others do
// after.
constexpr bool synchronises(Category c) {
  return c == Category::kFence || c == Category::kBarrier || c == Category::kClusterBarrier ||
         c == Category::kCollective || c == Category::kMbarrier;
}

}  // namespace lockstep::isa
