// One block of a program in the reference: the registers and memory of its threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/needs.h"
#include "simulator/fuzz/differential/reference.h"
#include "simulator/fuzz/differential/sums.h"

namespace lockstep::fuzz::differential {

using Bits = std::uint64_t;

struct Registers {
  Bits of[5][16] = {};
  bool carry = false;
  Bits& operator[](Register r) { return of[static_cast<int>(r.cls)][r.index]; }
};

inline constexpr Bits kMask[] = {1, 0xffff, 0xffffffff, ~Bits{0}, ~Bits{0}};

using Lanes = std::vector<int>;  // threads of the block that execute, in order

class Block {
 public:
  Block(const Program& program, std::uint32_t block, std::vector<std::uint8_t>& memory)
      : program_(program),
        layout_(program),
        block_(block),
        memory_(memory),
        needs_(needs_of(program)) {}

  void run() {
    const std::uint32_t n = program_.threads;
    registers_.resize(n);
    shared_.assign(n * kPrivate, 0);
    local_.assign(n * kPrivate, 0);
    board_.assign(n * kBoardStride, 0);
    for (Bits& s : sums_) s = kSumStart;
    done_.assign(n, false);
    Lanes all;
    for (std::uint32_t t = 0; t < n; ++t) {
      all.push_back(static_cast<int>(t));
      const std::uint8_t* in = input(t);
      Registers& r = registers_[t];
      const auto load = [&](Register x, std::uint32_t at, std::uint32_t bytes) {
        std::memcpy(&r[x], in + at, bytes);
      };
      for (std::uint8_t i = 0; i < 8; ++i) load({Class::k32, i}, 4u * i, 4);
      for (std::uint8_t i = 0; i < 4; ++i) load({Class::k64, i}, 32 + 8u * i, 8);
      for (std::uint8_t i = 0; i < 4; ++i) load({Class::k16, i}, 64 + 2u * i, 2);
      compare(r);
      std::memcpy(&shared_[t * kPrivate], in + 32, kPrivate);
      std::memcpy(&local_[t * kPrivate], in + 32, kPrivate);
    }
    list(program_.body, all);
    for (std::uint32_t t = 0; t < n; ++t)
      if (!done_[t]) leave(t);
    if (needs_.shared_sums)
      std::memcpy(&memory_[layout_.shared_sums + block_ * 8 * kSums], sums_, sizeof sums_);
  }

 private:
  const std::uint8_t* input(std::uint32_t t) const {
    return reinterpret_cast<const std::uint8_t*>(input_data().data()) + program_.input_offset +
           global(t) * kInputStride;
  }
  std::uint32_t global(std::uint32_t t) const { return block_ * program_.threads + t; }

  static void compare(Registers& r) {
    for (int i = 0; i < 4; ++i)
      r.of[0][i] =
          static_cast<std::int32_t>(r.of[2][i]) < static_cast<std::int32_t>(r.of[2][i + 4]);
  }

  bool kept(Class c, int i) const {
    return needs_.pool[static_cast<int>(c)][i] && (program_.kept >> kept_bit(c, i) & 1);
  }

  // Stores the results of a thread at its end.
  void leave(std::uint32_t t) {
    done_[t] = true;
    std::uint8_t* out = &memory_[global(t) * Layout::kOutput];
    Registers& r = registers_[t];
    const auto put = [&](Class c, int n, std::uint32_t at, std::uint32_t bytes) {
      for (int i = 0; i < n; ++i)
        if (kept(c, i))
          std::memcpy(out + at + static_cast<std::uint32_t>(i) * bytes,
                      &r.of[static_cast<int>(c)][i], bytes);
    };
    put(Class::k32, 8, 0, 4), put(Class::k64, 4, 32, 8), put(Class::k16, 4, 64, 2);
    std::uint32_t bits = 0;
    bool any = false;
    for (int i = 0; i < 4; ++i) {
      if (!kept(Class::kPredicate, i)) continue;
      any = true;
      bits |= static_cast<std::uint32_t>(r.of[0][i]) << i;
    }
    if (any) std::memcpy(out + 72, &bits, 4);
  }

  Registers& at(int t) {
    return frames_.empty() ? registers_[static_cast<std::size_t>(t)]
                           : (*frames_.back())[static_cast<std::size_t>(t)];
  }
  bool argument_bit(const Statement& s) const {
    return (program_.arguments[s.argument / 32] >> s.argument % 32 & 1) != 0;
  }
  bool holds(const Statement& s, int t) { return (at(t).of[0][s.predicate] != 0) != s.negated; }

  void list(const std::vector<Statement>& list, Lanes lanes) {
    for (const Statement& s : list) {
      if (lanes.empty()) return;
      statement(s, lanes);
      std::erase_if(lanes, [&](int t) {
        return done_[static_cast<std::size_t>(t)] ||
               std::binary_search(left_.begin(), left_.end(), t);
      });
    }
  }

  void statement(const Statement& s, const Lanes& lanes);
  void call(const Statement& s, const Lanes& lanes);
  void function(std::size_t f, const Lanes& lanes, std::vector<Registers>& frame,
                std::vector<std::uint32_t> depth);
  void unit(const std::vector<Instruction>& unit, const Lanes& lanes) {
    for (const Instruction& i : unit) instruction(i, lanes);
  }
  void instruction(const Instruction& i, const Lanes& lanes);
  void exchange(const Instruction& i, const Lanes& lanes);
  void barrier(const Instruction& i, const Lanes& lanes);
  void memory(const Instruction& i, const isa::Example& e, int t);
  std::uint8_t* place(const Address& a, int t);

  Bits special(isa::SpecialRegister r, std::uint32_t t) const {
    const std::uint32_t lane = t % 32, eq = 1u << lane, below = eq - 1;
    switch (r) {
      case isa::SpecialRegister::kTidX: return t;
      case isa::SpecialRegister::kNtidX: return program_.threads;
      case isa::SpecialRegister::kCtaidX: return block_;
      case isa::SpecialRegister::kNctaidX: return program_.blocks;
      case isa::SpecialRegister::kLaneid: return lane;
      case isa::SpecialRegister::kLanemaskEq: return eq;
      case isa::SpecialRegister::kLanemaskLe: return below | eq;
      case isa::SpecialRegister::kLanemaskLt: return below;
      case isa::SpecialRegister::kLanemaskGe: return ~below;
      case isa::SpecialRegister::kLanemaskGt: return ~(below | eq);
      case isa::SpecialRegister::kNtidZ: return 1;
      default: return 0;
    }
  }

  Bits source(const Operand& o, int t) {
    switch (o.kind) {
      case Operand::Kind::kRegister: return at(t)[o.reg];
      case Operand::Kind::kNegated: return at(t)[o.reg] ^ 1;
      case Operand::Kind::kSpecial: return special(o.special, static_cast<std::uint32_t>(t));
      default: return o.bits;
    }
  }
  void assign(Register r, Bits v, int t) { at(t)[r] = v & kMask[static_cast<int>(r.cls)]; }

  const Program& program_;
  Layout layout_;
  std::uint32_t block_;
  std::vector<std::uint8_t>& memory_;
  Needs needs_;
  std::vector<Registers> registers_;
  std::vector<std::vector<Registers>*> frames_;  // of the function that executes
  std::vector<std::uint8_t> shared_, local_, board_;
  Bits sums_[kSums];
  std::vector<bool> done_;
  Lanes left_;     // lanes that have left the iteration of the innermost loop
  Lanes broken_;   // lanes that have left the loop
  int loops_ = 0;  // the number of loops around the statement, in its function
};

}  // namespace lockstep::fuzz::differential
