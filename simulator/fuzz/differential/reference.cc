#include "simulator/fuzz/differential/reference.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/needs.h"
#include "simulator/fuzz/differential/sums.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {
namespace {

using Kind = Statement::Kind;
using Bits = std::uint64_t;
using ptx::AtomOp;
using ptx::Opcode;
using ptx::Type;
using Role = ptx::OperandRule::Role;

struct Registers {
  Bits of[5][16] = {};
  bool carry = false;
  Bits& operator[](Register r) { return of[static_cast<int>(r.cls)][r.index]; }
};

constexpr Bits kMask[] = {1, 0xffff, 0xffffffff, ~Bits{0}, ~Bits{0}};

using Lanes = std::vector<int>;  // threads of the block that execute, in order

class Block {
 public:
  Block(const Program& program, std::uint32_t block, std::vector<std::uint8_t>& memory)
      : program_(program), layout_(program), block_(block), memory_(memory), needs_(needs_of(program)) {}

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
      const auto load = [&](Register x, std::uint32_t at, std::uint32_t bytes) { std::memcpy(&r[x], in + at, bytes); };
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
    if (needs_.shared_sums) std::memcpy(&memory_[layout_.shared_sums + block_ * 8 * kSums], sums_, sizeof sums_);
  }

 private:
  const std::uint8_t* input(std::uint32_t t) const {
    return reinterpret_cast<const std::uint8_t*>(input_data().data()) + program_.input_offset + global(t) * kInputStride;
  }
  std::uint32_t global(std::uint32_t t) const { return block_ * program_.threads + t; }

  static void compare(Registers& r) {
    for (int i = 0; i < 4; ++i) r.of[0][i] = static_cast<std::int32_t>(r.of[2][i]) < static_cast<std::int32_t>(r.of[2][i + 4]);
  }

  bool kept(Class c, int i) const { return needs_.pool[static_cast<int>(c)][i] && (program_.kept >> kept_bit(c, i) & 1); }

  // What a thread stores at its end.
  void leave(std::uint32_t t) {
    done_[t] = true;
    std::uint8_t* out = &memory_[global(t) * Layout::kOutput];
    Registers& r = registers_[t];
    const auto put = [&](Class c, int n, std::uint32_t at, std::uint32_t bytes) {
      for (int i = 0; i < n; ++i)
        if (kept(c, i)) std::memcpy(out + at + static_cast<std::uint32_t>(i) * bytes, &r.of[static_cast<int>(c)][i], bytes);
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

  Registers& at(int t) { return frames_.empty() ? registers_[static_cast<std::size_t>(t)] : (*frames_.back())[static_cast<std::size_t>(t)]; }
  bool holds(const Statement& s, int t) { return (at(t).of[0][s.predicate] != 0) != s.negated; }

  void list(const std::vector<Statement>& list, Lanes lanes) {
    for (const Statement& s : list) {
      if (lanes.empty()) return;
      statement(s, lanes);
      std::erase_if(lanes, [&](int t) { return done_[static_cast<std::size_t>(t)] || std::binary_search(left_.begin(), left_.end(), t); });
    }
  }

  void statement(const Statement& s, const Lanes& lanes);
  void call(const Statement& s, const Lanes& lanes);
  void function(std::size_t f, const Lanes& lanes, std::vector<Registers>& frame, std::vector<std::uint32_t> depth);
  void unit(const std::vector<Instruction>& unit, const Lanes& lanes) {
    for (const Instruction& i : unit) instruction(i, lanes);
  }
  void instruction(const Instruction& i, const Lanes& lanes);
  void exchange(const Instruction& i, const Lanes& lanes);
  void barrier(const Instruction& i, const Lanes& lanes);
  void memory(const Instruction& i, const ptx::Example& e, int t);
  std::uint8_t* place(const Address& a, int t);

  Bits special(ptx::SpecialRegister r, std::uint32_t t) const {
    const std::uint32_t lane = t % 32, eq = 1u << lane, below = eq - 1;
    switch (r) {
      case ptx::SpecialRegister::kTidX: return t;
      case ptx::SpecialRegister::kNtidX: return program_.threads;
      case ptx::SpecialRegister::kCtaidX: return block_;
      case ptx::SpecialRegister::kNctaidX: return program_.blocks;
      case ptx::SpecialRegister::kLaneid: return lane;
      case ptx::SpecialRegister::kLanemaskEq: return eq;
      case ptx::SpecialRegister::kLanemaskLe: return below | eq;
      case ptx::SpecialRegister::kLanemaskLt: return below;
      case ptx::SpecialRegister::kLanemaskGe: return ~below;
      case ptx::SpecialRegister::kLanemaskGt: return ~(below | eq);
      case ptx::SpecialRegister::kNtidZ: return 1;
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
  Lanes left_;       // that have left the innermost loop's iteration
  Lanes broken_;     // and the loop
  int loops_ = 0;    // around the statement, in its function
};

void Block::statement(const Statement& s, const Lanes& lanes) {
  switch (s.kind) {
    case Kind::kUnit: unit(s.unit, lanes); break;
    case Kind::kBarrier: barrier(s.unit.front(), lanes); break;
    case Kind::kIf: {
      Lanes yes, no;
      for (const int t : lanes) {
        const bool c = s.uniform ? ((program_.arguments[s.argument / 32] >> s.argument % 32 & 1) != 0) != s.negated : holds(s, t);
        (c ? yes : no).push_back(t);
      }
      list(s.body, yes);
      list(s.other, no);
      break;
    }
    case Kind::kDead: break;
    case Kind::kLoop: {
      std::vector<std::uint32_t> trips(program_.threads);
      for (const int t : lanes) {
        trips[static_cast<std::size_t>(t)] = s.trips == Statement::Trips::kConstant   ? s.count
                                             : s.trips == Statement::Trips::kArgument ? program_.arguments[s.argument]
                                                                                      : static_cast<std::uint32_t>(at(t).of[2][s.reg] & 3);
      }
      const Lanes left = std::exchange(left_, {}), broken = std::exchange(broken_, {});
      Lanes rest = lanes;
      ++loops_;
      for (std::uint32_t n = 0;; ++n) {
        std::erase_if(rest, [&](int t) {
          return trips[static_cast<std::size_t>(t)] <= n || std::binary_search(broken_.begin(), broken_.end(), t) || done_[static_cast<std::size_t>(t)];
        });
        if (rest.empty()) break;
        left_ = broken_;
        for (const int t : rest) {
          if (s.walk < 0) break;
          std::uint32_t word;
          std::memcpy(&word, input(static_cast<std::uint32_t>(t)) + 4 * n, 4);
          at(t).of[2][s.walk] ^= word;
        }
        list(s.body, rest);
      }
      --loops_;
      left_ = left, broken_ = broken;
      break;
    }
    case Kind::kLeaveIf:
      if (loops_ == 0) break;  // the reducer took the loop away
      for (const int t : lanes) {
        if (!holds(s, t)) continue;
        left_.insert(std::upper_bound(left_.begin(), left_.end(), t), t);
        if (!s.go_on) broken_.insert(std::upper_bound(broken_.begin(), broken_.end(), t), t);
      }
      break;
    case Kind::kSwitch: {
      Lanes to[4];
      for (const int t : lanes) to[at(t).of[2][s.reg] & 3].push_back(t);
      for (std::size_t i = 0; i < 4 && i < s.cases.size(); ++i) {
        list(s.cases[i], to[i]);
        if (s.variant != 0 && i == 1) {
          to[2].insert(to[2].end(), to[1].begin(), to[1].end());
          std::sort(to[2].begin(), to[2].end());
          std::erase_if(to[2], [&](int t) { return std::binary_search(left_.begin(), left_.end(), t); });
        }
      }
      break;
    }
    case Kind::kIrreducible: {
      Lanes first, rest = lanes;
      for (const int t : lanes)
        if (!holds(s, t)) first.push_back(t);
      for (std::uint32_t n = 0; n < s.count; ++n) {
        list(s.body, n == 0 ? first : rest);
        const auto gone = [&](int t) { return std::binary_search(left_.begin(), left_.end(), t); };
        std::erase_if(rest, gone);
        list(s.other, rest);
        std::erase_if(rest, gone);
      }
      break;
    }
    case Kind::kCall: call(s, lanes); break;
    case Kind::kExchange:
      unit(s.unit, lanes);
      list(s.body, lanes);
      break;
    case Kind::kHandOver: {
      unit({s.unit.front()}, lanes);
      Lanes waiting;
      for (const int t : lanes)
        if (t >= static_cast<int>(program_.threads / 2)) waiting.push_back(t);
      list(s.body, waiting);
      break;
    }
    case Kind::kText:
      for (const int t : lanes) {
        std::vector<Bits> values;
        for (const Assignment& a : s.effects) {
          Bits v = a.bits;
          if (a.value == Assignment::Value::kRegister) v = at(t)[a.from];
          if (a.value == Assignment::Value::kLaneMask) v = Bits{1} << (t % 32);
          if (a.value == Assignment::Value::kInput) std::memcpy(&v, input(static_cast<std::uint32_t>(t)) + a.offset, 4);
          values.push_back(v);
        }
        for (std::size_t i = 0; i < values.size(); ++i) assign(s.effects[i].to, values[i], t);
      }
      break;
    case Kind::kEnd:
      for (const int t : lanes)
        if (holds(s, t)) leave(static_cast<std::uint32_t>(t));
      break;
  }
}

void Block::call(const Statement& s, const Lanes& lanes) {
  std::vector<Registers> frame(program_.threads);
  Lanes first, second;
  for (const int t : lanes) {
    Registers& to = frame[static_cast<std::size_t>(t)];
    Registers& from = at(t);
    to.of[2][0] = from.of[2][s.registers[0]];
    to.of[3][0] = from.of[3][s.registers[1]];
    to.of[2][1] = from.of[2][s.registers[2]];
    to.of[2][2] = from.of[2][s.registers[3]];
    (s.alternative >= 0 && from.of[0][s.predicate] == 0 ? second : first).push_back(t);
  }
  const Lanes left = std::exchange(left_, {}), broken = std::exchange(broken_, {});
  const int loops = std::exchange(loops_, 0);
  const std::vector<std::uint32_t> depth(program_.threads, s.count);
  function(static_cast<std::size_t>(s.function), first, frame, depth);
  if (!second.empty()) function(static_cast<std::size_t>(s.alternative), second, frame, depth);
  left_ = left, broken_ = broken, loops_ = loops;
  for (const int t : lanes) {
    Registers& r = frame[static_cast<std::size_t>(t)];
    assign({Class::k32, s.registers[4]}, r.of[2][1], t);
    assign({Class::k32, s.registers[5]}, r.of[2][2] ^ r.of[2][5] ^ (r.of[3][1] & 0xffffffff) ^ r.of[3][1] >> 32, t);
  }
}

// The arguments are in r0, d0, r1, r2 of the frame; the results are left in r1, r2, r5 and d1.
void Block::function(std::size_t f, const Lanes& lanes, std::vector<Registers>& frame, std::vector<std::uint32_t> depth) {
  if (lanes.empty()) return;
  for (const int t : lanes) {
    Registers& x = frame[static_cast<std::size_t>(t)];
    auto& r = x.of[2];
    auto& d = x.of[3];
    auto& h = x.of[1];
    r[3] = (r[0] + 1) & 0xffffffff;
    r[4] = r[1] ^ r[2];
    r[5] = 0x3f800000;
    r[6] = (r[2] + 0x3f000000) & 0xffffffff;
    r[7] = r[0];
    d[1] = r[1] | r[2] << 32;
    d[2] = 0x3ff0000000000000;
    d[3] = d[0] ^ d[1];
    h[0] = r[0] & 0xffff, h[1] = r[0] >> 16, h[2] = r[2] & 0xffff, h[3] = r[2] >> 16;
    compare(x);
  }
  frames_.push_back(&frame);
  list(program_.functions[f].body, lanes);
  if (program_.functions[f].recursive) {
    Lanes again;
    std::vector<Registers> inner(program_.threads);
    for (const int t : lanes) {
      if (depth[static_cast<std::size_t>(t)] == 0) continue;
      again.push_back(t);
      --depth[static_cast<std::size_t>(t)];
      Registers &x = frame[static_cast<std::size_t>(t)], &y = inner[static_cast<std::size_t>(t)];
      y.of[2][0] = x.of[2][0], y.of[3][0] = x.of[3][1], y.of[2][1] = x.of[2][3], y.of[2][2] = x.of[2][4];
    }
    function(f, again, inner, depth);
    for (const int t : again) {
      Registers& r = inner[static_cast<std::size_t>(t)];
      assign({Class::k32, 1}, r.of[2][1], t);
      assign({Class::k32, 2}, r.of[2][2] ^ r.of[2][5] ^ (r.of[3][1] & 0xffffffff) ^ r.of[3][1] >> 32, t);
    }
  }
  frames_.pop_back();
}

// The bytes that a thread's address is that of.
std::uint8_t* Block::place(const Address& a, int t) {
  const auto thread = static_cast<std::uint32_t>(t);
  std::uint64_t index = a.index >= 0 ? at(t).of[2][a.index] & (a.count - 1) : 0;
  if (a.warp) index += thread & ~31u;
  const std::uint64_t offset = index * a.scale + a.offset;
  switch (a.region) {
    case Region::kInput:
      return const_cast<std::uint8_t*>(a.window ? reinterpret_cast<const std::uint8_t*>(input_data().data()) + program_.input_offset : input(thread)) + offset;
    case Region::kScratch: return &memory_[layout_.scratch + global(thread) * kPrivate] + offset;
    case Region::kShared: return &shared_[thread * kPrivate] + offset;
    case Region::kLocal: return &local_[thread * kPrivate] + offset;
    case Region::kConstant: return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(constant_data().data())) + offset;
    case Region::kArguments: return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(program_.arguments.data())) + offset;
    case Region::kBoard: return (a.others ? board_.data() : &board_[thread * kBoardStride]) + offset;
    case Region::kGlobalSums: return &memory_[layout_.sums] + offset;
    case Region::kSharedSums: return reinterpret_cast<std::uint8_t*>(sums_) + offset;
  }
  return nullptr;
}

// New contents of a location after an atomic operation on integers; false when the operation is not known.
bool updated(const ptx::Modifiers& m, Bits old, Bits b, Bits c, Bits* to) {
  const int spare = 64 - 8 * ptx::size_of(m.type);
  const bool is_signed = m.type == Type::kS32 || m.type == Type::kS64;
  const auto less = [&](Bits x, Bits y) {
    return is_signed ? static_cast<std::int64_t>(x << spare) < static_cast<std::int64_t>(y << spare) : x << spare < y << spare;
  };
  switch (m.atom) {
    case AtomOp::kAnd: *to = old & b; return true;
    case AtomOp::kOr: *to = old | b; return true;
    case AtomOp::kXor: *to = old ^ b; return true;
    case AtomOp::kExch: *to = b; return true;
    case AtomOp::kCas: *to = old == b ? c : old; return true;
    case AtomOp::kAdd: *to = old + b; return !is_float(m.type);
    case AtomOp::kMin: *to = less(old, b) ? old : b; return !is_float(m.type);
    case AtomOp::kMax: *to = less(old, b) ? b : old; return !is_float(m.type);
    case AtomOp::kInc: *to = old >= b ? 0 : old + 1; return true;
    case AtomOp::kDec: *to = old == 0 || old > b ? b : old - 1; return true;
    default: return false;
  }
}

void Block::memory(const Instruction& i, const ptx::Example& e, int t) {
  const ptx::Modifiers& m = e.spelling.modifiers;
  const Opcode op = e.spelling.form->row->opcode;
  const std::size_t bytes = static_cast<std::size_t>(ptx::size_of(m.type));
  const bool is_signed = m.type == Type::kS8 || m.type == Type::kS16;
  switch (op) {
    case Opcode::k_ld: case Opcode::k_ldu: {
      const std::uint8_t* from = place(i.operands[1].address, t);
      std::vector<Register> to = i.operands[0].elements;
      if (i.operands[0].kind == Operand::Kind::kRegister) to = {i.operands[0].reg};
      std::vector<Bits> values;
      for (std::size_t k = 0; k < to.size(); ++k) {
        Bits v = 0;
        std::memcpy(&v, from + k * bytes, bytes);
        // A register wider than the type is filled by its sign.
        if (is_signed && (v >> (8 * bytes - 1) & 1)) v |= ~Bits{0} << (8 * bytes);
        values.push_back(v);
      }
      for (std::size_t k = 0; k < to.size(); ++k) assign(to[k], values[k], t);
      break;
    }
    case Opcode::k_st: {
      std::uint8_t* to = place(i.operands[0].address, t);
      const Operand& o = i.operands[1];
      if (o.kind == Operand::Kind::kVector) {
        for (std::size_t k = 0; k < o.elements.size(); ++k) std::memcpy(to + k * bytes, &at(t)[o.elements[k]], bytes);
      } else {
        const Bits v = source(o, t);
        std::memcpy(to, &v, bytes);
      }
      break;
    }
    default: {  // atom, red
      const std::size_t first = op == Opcode::k_atom ? 1 : 0;
      std::uint8_t* where = place(i.operands[first].address, t);
      Bits old = 0, b = source(i.operands[first + 1], t), c = first + 2 < i.operands.size() ? source(i.operands[first + 2], t) : 0, fresh = 0;
      std::memcpy(&old, where, bytes);
      updated(m, old, b & (bytes == 8 ? ~Bits{0} : (Bits{1} << (8 * bytes)) - 1), c, &fresh);
      std::memcpy(where, &fresh, bytes);
      if (op == Opcode::k_atom) assign(i.operands[0].reg, old, t);
      break;
    }
  }
}

// shfl, vote, match, redux, elect: within each warp, among the lanes that execute it.
void Block::exchange(const Instruction& i, const Lanes& lanes) {
  const ptx::Example& e = Catalogue::get().example(i.example);
  const ptx::Modifiers& m = e.spelling.modifiers;
  const Opcode op = e.spelling.form->row->opcode;
  for (std::size_t begin = 0; begin < lanes.size();) {
    std::size_t end = begin;
    while (end < lanes.size() && lanes[end] / 32 == lanes[begin] / 32) ++end;
    const Lanes warp(lanes.begin() + static_cast<std::ptrdiff_t>(begin), lanes.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
    Bits value[32] = {}, mask = 0;
    for (const int t : warp) {
      value[t % 32] = source(i.operands[1], t);
      mask |= Bits{1} << (t % 32);
    }
    const auto give = [&](int t, Bits first, bool second) {
      const Operand& d = i.operands[0];
      if (d.kind == Operand::Kind::kPair) assign(d.elements[0], first, t), assign(d.elements[1], second, t);
      else assign(d.reg, first, t);
    };
    if (op == Opcode::k_shfl_sync) {
      struct Result { Bits value; bool valid; };
      std::vector<Result> results;
      for (const int t : warp) {
        const int lane = t % 32, b = static_cast<int>(source(i.operands[2], t) & 31), c = static_cast<int>(source(i.operands[3], t) & 31);
        const int segments = static_cast<int>(source(i.operands[3], t) >> 8 & 31);
        const int highest = (lane & segments) | (c & ~segments), lowest = lane & segments;
        int j = 0;
        bool valid = false;
        switch (m.shfl) {
          case ptx::ShflMode::kUp: j = lane - b, valid = j >= highest; break;
          case ptx::ShflMode::kDown: j = lane + b, valid = j <= highest; break;
          case ptx::ShflMode::kBfly: j = lane ^ b, valid = j <= highest; break;
          default: j = lowest | (b & ~segments), valid = j <= highest; break;
        }
        results.push_back({value[valid ? j : lane], valid});
      }
      for (std::size_t k = 0; k < warp.size(); ++k) give(warp[k], results[k].value, results[k].valid);
      continue;
    }
    Bits ballot = 0;
    for (const int t : warp) ballot |= (value[t % 32] & 1) << (t % 32);
    for (const int t : warp) {
      Bits first = 0;
      bool second = false;
      if (op == Opcode::k_vote_sync) {
        switch (m.vote) {
          case ptx::VoteMode::kAll: first = ballot == mask; break;
          case ptx::VoteMode::kAny: first = ballot != 0; break;
          case ptx::VoteMode::kUni: first = ballot == mask || ballot == 0; break;
          default: first = ballot; break;
        }
      } else if (op == Opcode::k_match_sync) {
        for (const int u : warp) first |= Bits{value[u % 32] == value[t % 32]} << (u % 32);
        if (e.spelling.text.find(".all") != std::string::npos) {
          second = first == mask;
          if (!second) first = 0;
        }
      } else if (op == Opcode::k_redux_sync) {
        first = value[warp.front() % 32];
        for (std::size_t k = 1; k < warp.size(); ++k) {
          ptx::Modifiers like = m;
          updated(like, first, value[warp[k] % 32], 0, &first);
        }
      } else {  // elect: the manual leaves open which; the lowest lane
        first = static_cast<Bits>(warp.front() % 32);
        second = t == warp.front();
      }
      give(t, first, second);
    }
  }
}

void Block::barrier(const Instruction& i, const Lanes& lanes) {
  const ptx::Example& e = Catalogue::get().example(i.example);
  if (e.spelling.text.find(".red") == std::string::npos) return;
  const Operand& predicate = i.operands.back();
  Bits n = 0;
  for (const int t : lanes) n += source(predicate, t);
  const Bits result = e.spelling.text.find(".popc") != std::string::npos ? n : e.spelling.text.find(".and") != std::string::npos ? n == lanes.size() : n != 0;
  for (const int t : lanes) assign(i.operands[0].reg, result, t);
}

void Block::instruction(const Instruction& i, const Lanes& lanes) {
  const ptx::Example& e = Catalogue::get().example(i.example);
  const Place place = Catalogue::get().rows()[static_cast<std::size_t>(Catalogue::get().row_of(i.example))].place;
  if (place == Place::kWarp) return exchange(i, lanes);
  for (const int t : lanes) {
    if (i.guard >= 0 && (at(t).of[0][i.guard] != 0) == i.guard_negated) continue;
    if (place == Place::kLoad || place == Place::kStore || place == Place::kAtomic) {
      memory(i, e, t);
      continue;
    }
    Bits in[8];
    std::size_t n = 0;
    for (std::size_t k = 1; k < i.operands.size(); ++k) {
      const Operand& o = i.operands[k];
      if (o.kind == Operand::Kind::kVector) {
        for (const Register r : o.elements) in[n++] = at(t)[r];
      } else {
        in[n++] = source(o, t);
      }
    }
    Values v;
    if (!evaluate(e.spelling, {in, n}, at(t).carry, v)) {
      std::fprintf(stderr, "the reference does not know %s\n", e.text.c_str());
      std::abort();
    }
    const Operand& d = i.operands[0];
    if (d.kind == Operand::Kind::kRegister) assign(d.reg, v.first, t);
    else assign(d.elements[0], v.first, t), assign(d.elements[1], v.second, t);
  }
}

}  // namespace

bool reference_knows(const ptx::Example& e, Place place) {
  const ptx::Modifiers& m = e.spelling.modifiers;
  switch (place) {
    case Place::kLoad: case Place::kStore: case Place::kBarrier: case Place::kText: return true;
    case Place::kWarp: return !is_float(m.type);
    case Place::kAtomic: {
      Bits to;
      return m.vector == 1 && updated(m, 0, 0, 0, &to);
    }
    case Place::kCompute: case Place::kCarry: {
      const Bits in[8] = {};
      std::size_t n = 0;
      for (std::size_t k = 1; k < e.operands->size(); ++k) n += (*e.operands)[k].role == Role::kSourceVector ? 2 : 1;
      bool carry = false;
      Values to;
      return evaluate(e.spelling, {in, n}, carry, to);
    }
    default: return false;
  }
}

std::vector<std::uint8_t> reference_result(const Program& program) {
  const Layout layout(program);
  std::vector<std::uint8_t> memory(layout.bytes);
  for (std::uint32_t i = 0; i < kSums; ++i) std::memcpy(&memory[layout.sums + 8 * i], &kSumStart, 8);
  for (std::uint32_t b = 0; b < program.blocks; ++b) Block(program, b, memory).run();
  return memory;
}

}  // namespace lockstep::fuzz::differential
