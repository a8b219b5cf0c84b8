// A straight run of operations that compute, as machine code for eight lanes at a time.
//
// The code is a loop of four turns. In each it holds the run's registers of eight lanes in vector
// registers: a 32-bit register in one, a 64-bit register in two, a predicate as a mask of 32-bit
// lanes. A register is loaded at its first use and stored once, at the end of the turn or where its
// place is needed. So the register file ends as the interpreter leaves it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/program/operation.h"
#include "simulator/program/program.h"
#include "simulator/translate/assembler.h"
#include "simulator/translate/place.h"

namespace lockstep::translate {

using program::Op;
using program::Slot;

// Of the general registers, those that translated code keeps: the warp, its register file, the
// kernel's constants, and the operations executed so far. Within a run `lane` is the first of the
// eight lanes, and `eighth` an eighth of it: the byte of a predicate. rax is free.
struct Registers {
  static inline const Xbyak::Reg64& warp = Xbyak::util::rbx;
  static inline const Xbyak::Reg64& file = Xbyak::util::r12;
  static inline const Xbyak::Reg64& constants = Xbyak::util::r13;
  static inline const Xbyak::Reg64& count = Xbyak::util::r14;
  static inline const Xbyak::Reg64& lane = Xbyak::util::rcx;
  static inline const Xbyak::Reg64& eighth = Xbyak::util::rdx;
};

// What an operation needs of the processor's control of floating point: nothing, rounding to
// nearest and subnormals, or rounding to nearest and zeros in their place.
enum class Mode : std::uint8_t { kAny, kDefault, kFlushing };

// Eight lanes of a 64-bit register: lanes 0 to 3 and 4 to 7.
struct Wide {
  Xbyak::Ymm part[2];
};

class RunOfLanes {
 public:
  // Emits into `code`; `pool` has the constants that it reads. `masked`: only the lanes change that
  // the frame's mask has (frame.h).
  RunOfLanes(Xbyak::CodeGenerator& code, ConstantPool& pool, const program::Program& program,
             bool masked)
      : g(code), pool(pool), program_(program), masked_(masked), vectors_(masked ? 12 : 13) {}

  // Whether the operation joins the run. It does not if one of its registers overlaps another of
  // the run and is not the same; if no room is left for its predicate; or if others of the run need
  // another mode of the processor. First all operations are asked, then the loop begins, then all
  // are emitted, then the loop ends.
  bool admits(const Op& op, const program::Meaning& meaning);
  // The same of one that is no arithmetic (lean.h).
  bool admits_lean(const Op& op);
  void begin();
  void end();
  Mode mode() const { return mode_; }
  // After each operation: its registers may give way.
  void next() {
    pinned_ = 0;
    ++at_;
  }
  // A register from fresh() that holds nothing any more.
  void release(Xbyak::Ymm v) { taken_ &= ~(1u << v.getIdx()); }

  // Sources of the operation. The vector registers must not be written.
  Xbyak::Ymm word(Slot slot);
  Wide wide(Slot slot);
  // A 16-bit register's eight lanes, in the low half.
  Xbyak::Xmm half(Slot slot);
  // A predicate as a mask of 32-bit lanes, or of 64-bit lanes in temporaries 1 and 2.
  Xbyak::Ymm mask(Slot slot, bool negated);
  Wide wide_mask(Slot slot, bool negated);
  // A place for a result, and the result's register, from which the place is written.
  Xbyak::Ymm fresh();
  Wide fresh_wide() { return {{fresh(), fresh()}}; }
  void set_word(const Op& op, Xbyak::Ymm value);
  void set_wide(const Op& op, Wide value);
  void set_half(const Op& op, Xbyak::Ymm value);
  void set_mask(const Op& op, Xbyak::Ymm value);
  // The same for another register than the operation's first.
  void set_word_at(const Op& op, Slot slot, Xbyak::Ymm value);
  void set_wide_at(const Op& op, Slot slot, Wide value);
  void set_half_at(const Op& op, Slot slot, Xbyak::Ymm value);

  const program::Program& program() const { return program_; }

  // The value of a constant in all lanes.
  std::uint32_t constant(Slot slot) const;

  // Free for an operation's own use.
  const Xbyak::Ymm t0{15}, t1{14}, t2{13};
  Xbyak::CodeGenerator& g;
  ConstantPool& pool;

 private:
  enum class Kind : std::uint8_t { kNone, kHalf, kWord, kWide, kMask };
  struct Value {
    Kind kind = Kind::kNone;
    Slot slot = 0;
    bool dirty = false;
    int reg[2] = {-1, -1};
  };
  // How the rest of the run, behind the operation that is being emitted, comes to a register first.
  struct NextUse {
    std::size_t distance = 0;  // in operations; that of the run's end where it does not
    bool overwrites = false;   // all lanes, without having read one
  };
  struct Extent {
    Slot begin, bytes;
    bool operator==(const Extent&) const = default;
  };

  bool admits(const Op& op, std::vector<Place> places, Mode mode);
  bool writes(Slot slot, Slot bytes) const;
  bool skips() const;  // turns of the loop without an active lane
  NextUse next_use(Slot slot) const;
  Value* find(Slot slot, Kind kind);
  Value& take(Slot slot, Kind kind, int reg0, int reg1, bool dirty);
  void drop(Slot slot);
  void free(Value& v);
  int allocate();
  void store(const Value& v);
  void store_masked(const Value& v);
  void touch(const Value& v);
  Xbyak::Address at(Slot slot, int bytes, int part = 0) const;
  std::size_t accumulator_of(Slot slot) const;

  static constexpr int kAccumulators = 6;

  const program::Program& program_;
  const bool masked_;
  // 0 to 11 or 12. The others are temporaries: 12, if it is one, of stores, the rest of operations.
  const int vectors_;
  std::vector<Value> values_;
  std::uint32_t taken_ = 0, pinned_ = 0;  // vector registers, a bit each
  std::vector<const Op*> ops_;
  std::vector<std::vector<Place>> places_;  // by operation
  std::size_t at_ = 0;                      // of the operation that is being emitted
  std::vector<Extent> extents_;
  std::vector<Slot> predicates_;  // that the run writes; index: accumulator
  std::vector<Slot> written_;     // of these, those that the code so far writes
  Mode mode_ = Mode::kAny;
  Xbyak::Label loop_, next_;
};

}  // namespace lockstep::translate
