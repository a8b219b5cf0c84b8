// The fields of operations by which lanes, warps and blocks synchronise.
#pragma once

#include <cstdint>

#include "simulator/program/operation.h"

namespace lockstep::program {

// Action::kSync: the kind of a *.sync operation (PTX ISA 9.7.9, 9.7.13). src[0..2]: the operation's
// own sources. src[3]: the member mask.
enum class SyncKind : std::uint8_t {
  kShflUp,
  kShflDown,
  kShflBfly,
  kShflIdx,
  kVoteAll,
  kVoteAny,
  kVoteUni,
  kVoteBallot,
  kMatchAny,
  kMatchAll,
  kReduxAdd,
  kReduxMinU,
  kReduxMinS,
  kReduxMaxU,
  kReduxMaxS,
  kReduxAnd,
  kReduxOr,
  kReduxXor,
  kReduxMinF,
  kReduxMaxF,
  kElect,
  kWarpBarrier,
  kWholeWarp,  // no exchange: lanes wait until all have arrived, and then execute the operation
               // together
};
// Op::immediate of redux on f32.
inline constexpr std::int64_t kReduxAbs = 1, kReduxNaN = 2;

// Action::kBarrier: the kind of a bar operation (9.7.13.1). src[0]: barrier. src[1]: threads, or
// kNoSlot. src[2]: predicate of .red.
enum BarFlags : std::uint8_t {
  kBarSync = 0,
  kBarArrive = 1,
  kBarRedAnd = 2,
  kBarRedOr = 3,
  kBarRedPopc = 4,
  kBarKind = 7,
  kBarAligned = 8
};

// Action::kMbarrier (9.7.13.15). Address: src[0] + immediate. src[1]: count, bytes, state or
// parity; kNoSlot: a count of 1. dst: the state or the predicate, or kNoSlot.
enum class MbarrierOp : std::uint8_t {
  kInit,
  kInvalidate,
  kExpectTx,
  kCompleteTx,
  kArrive,
  kTestWait,
  kTryWait
};
// Modifiers of the operation.
enum MbarrierFlags : std::uint32_t {
  kWithTx = 1,      // arrive.expect_tx: src[1] is a number of bytes
  kDropped = 2,     // arrive_drop
  kIncomplete = 4,  // arrive.noComplete
  kByParity = 8,    // test_wait.parity, try_wait.parity
};

// An operation that lanes of a warp execute together: Action::kSync, and the matrix operations.
class SyncFields : public Fields {
 public:
  explicit SyncFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) {
    return a == Action::kSync || (a >= Action::kMultiply && a <= Action::kTensorWait);
  }
  SyncKind kind() const { return static_cast<SyncKind>(sync()); }
  void set_kind(SyncKind kind) { sync() = static_cast<std::uint8_t>(kind); }
};

class BarrierFields : public Fields {
 public:
  explicit BarrierFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kBarrier; }
  BarFlags kind() const { return static_cast<BarFlags>(flags() & kBarKind); }
  bool is_aligned() const { return (flags() & kBarAligned) != 0; }
  bool reduces() const { return kind() >= kBarRedAnd; }
  void set_kind(BarFlags kind) { flags() = static_cast<std::uint8_t>(kind); }
  void set_aligned() { flags() |= kBarAligned; }
};

class MbarrierFields : public Fields {
 public:
  explicit MbarrierFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kMbarrier; }
  MbarrierOp what() const { return static_cast<MbarrierOp>(Fields::what()); }
  void set_what(MbarrierOp what) { Fields::what() = static_cast<std::uint8_t>(what); }
  bool has(MbarrierFlags flag) const { return (word() & flag) != 0; }
  void add(MbarrierFlags flag) { word() |= flag; }
};

}  // namespace lockstep::program
