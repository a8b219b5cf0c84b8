// A decoded instruction, and the register file that its operands point into.
//
// A kernel is decoded once. What remains of an instruction is a pointer to a specialised handler
// and byte offsets of its operands in the warp's register file, so that executing it neither looks
// anything up nor branches on its modifiers.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/program/action.h"

namespace lockstep::engine {
struct Warp;  // engine/state/warp.h
}

namespace lockstep::program {

inline constexpr int kWarpSize = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

struct Op;

// Executes `op` for the lanes in `mask` (never 0). Control flow, barriers and memory handlers may
// change the warp's program counter and state; all others only write their destination, for the
// lanes in `mask` alone.
using Handler = void (*)(engine::Warp& warp, const Op& op, LaneMask mask);

// Where an operand lives. The file is a structure of arrays: 32 lanes of the register's own width
// side by side, 64-byte aligned (an 8-bit register takes 32 bytes, 16-bit 64, 32-bit 128, 64-bit
// 256, 128-bit 512). A predicate is one 32-bit LaneMask. Immediates, and other values that are
// equal in all lanes of all warps, are laid out the same way in a file of constants per kernel: bit
// 0 of the offset says which of the two files is meant.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xfffffffeu;
constexpr bool is_constant(Slot s) { return (s & 1) != 0; }

// What the scheduler's loop has to do around a handler.
enum class OpKind : std::uint8_t {
  kCompute,  // registers in, registers out: nothing
  kMemory,   // may fail or meet unwritten bytes: the warp's program counter is stored before, its
             // event looked at after
  kControl,  // may change the program counter, the active lanes or the set of splits
  kBranch,   // bra: executed by the loop itself
};

struct alignas(64) Op {
  Handler run = nullptr;
  Slot dst = kNoSlot;
  Slot dst2 = kNoSlot;  // second destination: setp p|q, shfl d|p, add.cc's carry mask
  Slot src[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  Slot guard = kNoSlot;  // predicate slot; kNoSlot when unguarded
  bool guard_negated = false;
  std::uint8_t width = 0;      // memory operations: bytes an element
  std::uint8_t elements = 1;   // memory operations: vector length
  std::uint8_t flags = 0;      // handler's own
  std::int64_t immediate = 0;  // address offset, lop3 table, prmt mode ...: handler's own
  std::uint32_t target = 0;    // branch target; index of side data
  std::uint32_t origin = 0;    // index of the ptx::Instruction it came from: findings, counters
  OpKind kind = OpKind::kCompute;
  std::uint8_t register_bytes =
      0;                   // memory operations: width of the data registers, at least `width`
  std::uint8_t space = 0;  // memory operations: isa::Space
  std::uint8_t mode = 0;  // memory operations: alignment shift, atomic operation ...: handler's own
  std::uint8_t scope = 2;  // strong memory operations and fences: check::Scope, the scope
  Action action = Action::kNone;  // which handler `run` is, where it has a name
};
static_assert(sizeof(Op) == 64);

}  // namespace lockstep::program
