// Single instructions: in one thread, on its memory, among the lanes of a warp.
#include <cstdio>
#include <cstdlib>

#include "simulator/fuzz/differential/reference_block.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {

using isa::AtomOp;
using isa::Opcode;
using isa::Type;
using Role = isa::OperandRule::Role;

// The host address of a thread's memory operand.
std::uint8_t* Block::place(const Address& a, int t) {
  const auto thread = static_cast<std::uint32_t>(t);
  std::uint64_t index = a.index >= 0 ? at(t).of[2][a.index] & (a.count - 1) : 0;
  if (a.warp) index += thread & ~31u;
  const std::uint64_t offset = index * a.scale + a.offset;
  switch (a.region) {
    case Region::kInput:
      return const_cast<std::uint8_t*>(
                 a.window ? reinterpret_cast<const std::uint8_t*>(input_data().data()) +
                                program_.input_offset
                          : input(thread)) +
             offset;
    case Region::kScratch: return &memory_[layout_.scratch + global(thread) * kPrivate] + offset;
    case Region::kShared: return &shared_[thread * kPrivate] + offset;
    case Region::kLocal: return &local_[thread * kPrivate] + offset;
    case Region::kConstant:
      return const_cast<std::uint8_t*>(
                 reinterpret_cast<const std::uint8_t*>(constant_data().data())) +
             offset;
    case Region::kArguments:
      return const_cast<std::uint8_t*>(
                 reinterpret_cast<const std::uint8_t*>(program_.arguments.data())) +
             offset;
    case Region::kBoard:
      return (a.others ? board_.data() : &board_[thread * kBoardStride]) + offset;
    case Region::kGlobalSums: return &memory_[layout_.sums] + offset;
    case Region::kSharedSums: return reinterpret_cast<std::uint8_t*>(sums_) + offset;
  }
  return nullptr;
}

namespace {

// The new value of a location after an atomic operation on integers. Returns false if the operation
// is not supported.
bool updated(const isa::Modifiers& m, Bits old, Bits b, Bits c, Bits* to) {
  const int spare = 64 - 8 * isa::size_of(m.type);
  const bool is_signed = m.type == Type::kS32 || m.type == Type::kS64;
  const auto less = [&](Bits x, Bits y) {
    return is_signed ? static_cast<std::int64_t>(x << spare) < static_cast<std::int64_t>(y << spare)
                     : x << spare < y << spare;
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

}  // namespace

void Block::memory(const Instruction& i, const isa::Example& e, int t) {
  const isa::Modifiers& m = e.spelling.modifiers;
  const Opcode op = e.spelling.form->row->opcode;
  const std::size_t bytes = static_cast<std::size_t>(isa::size_of(m.type));
  const bool is_signed = m.type == Type::kS8 || m.type == Type::kS16;
  switch (op) {
    case Opcode::k_ld:
    case Opcode::k_ldu: {
      const std::uint8_t* from = place(i.operands[1].address, t);
      std::vector<Register> to = i.operands[0].elements;
      if (i.operands[0].kind == Operand::Kind::kRegister) to = {i.operands[0].reg};
      std::vector<Bits> values;
      for (std::size_t k = 0; k < to.size(); ++k) {
        Bits v = 0;
        std::memcpy(&v, from + k * bytes, bytes);
        // A register wider than the type is sign-extended.
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
        for (std::size_t k = 0; k < o.elements.size(); ++k)
          std::memcpy(to + k * bytes, &at(t)[o.elements[k]], bytes);
      } else {
        const Bits v = source(o, t);
        std::memcpy(to, &v, bytes);
      }
      break;
    }
    default: {  // atom, red
      const std::size_t first = op == Opcode::k_atom ? 1 : 0;
      std::uint8_t* where = place(i.operands[first].address, t);
      Bits old = 0, b = source(i.operands[first + 1], t),
           c = first + 2 < i.operands.size() ? source(i.operands[first + 2], t) : 0, fresh = 0;
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
  const isa::Example& e = Catalogue::get().example(i.example);
  const isa::Modifiers& m = e.spelling.modifiers;
  const Opcode op = e.spelling.form->row->opcode;
  for (std::size_t begin = 0; begin < lanes.size();) {
    std::size_t end = begin;
    while (end < lanes.size() && lanes[end] / 32 == lanes[begin] / 32) ++end;
    const Lanes warp(lanes.begin() + static_cast<std::ptrdiff_t>(begin),
                     lanes.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
    Bits value[32] = {}, mask = 0;
    for (const int t : warp) {
      value[t % 32] = source(i.operands[1], t);
      mask |= Bits{1} << (t % 32);
    }
    const auto give = [&](int t, Bits first, bool second) {
      const Operand& d = i.operands[0];
      if (d.kind == Operand::Kind::kPair)
        assign(d.elements[0], first, t), assign(d.elements[1], second, t);
      else
        assign(d.reg, first, t);
    };
    if (op == Opcode::k_shfl_sync) {
      struct Result {
        Bits value;
        bool valid;
      };
      std::vector<Result> results;
      for (const int t : warp) {
        const int lane = t % 32, b = static_cast<int>(source(i.operands[2], t) & 31),
                  c = static_cast<int>(source(i.operands[3], t) & 31);
        const int segments = static_cast<int>(source(i.operands[3], t) >> 8 & 31);
        const int highest = (lane & segments) | (c & ~segments), lowest = lane & segments;
        int j = 0;
        bool valid = false;
        switch (m.shfl) {
          case isa::ShflMode::kUp: j = lane - b, valid = j >= highest; break;
          case isa::ShflMode::kDown: j = lane + b, valid = j <= highest; break;
          case isa::ShflMode::kBfly: j = lane ^ b, valid = j <= highest; break;
          default: j = lowest | (b & ~segments), valid = j <= highest; break;
        }
        results.push_back({value[valid ? j : lane], valid});
      }
      for (std::size_t k = 0; k < warp.size(); ++k)
        give(warp[k], results[k].value, results[k].valid);
      continue;
    }
    Bits ballot = 0;
    for (const int t : warp) ballot |= (value[t % 32] & 1) << (t % 32);
    for (const int t : warp) {
      Bits first = 0;
      bool second = false;
      if (op == Opcode::k_vote_sync) {
        switch (m.vote) {
          case isa::VoteMode::kAll: first = ballot == mask; break;
          case isa::VoteMode::kAny: first = ballot != 0; break;
          case isa::VoteMode::kUni: first = ballot == mask || ballot == 0; break;
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
          isa::Modifiers like = m;
          updated(like, first, value[warp[k] % 32], 0, &first);
        }
      } else {  // elect: the manual does not define which; the lowest lane
        first = static_cast<Bits>(warp.front() % 32);
        second = t == warp.front();
      }
      give(t, first, second);
    }
  }
}

void Block::barrier(const Instruction& i, const Lanes& lanes) {
  const isa::Example& e = Catalogue::get().example(i.example);
  if (e.spelling.text.find(".red") == std::string::npos) return;
  const Operand& predicate = i.operands.back();
  Bits n = 0;
  for (const int t : lanes) n += source(predicate, t);
  const Bits result = e.spelling.text.find(".popc") != std::string::npos  ? n
                      : e.spelling.text.find(".and") != std::string::npos ? n == lanes.size()
                                                                          : n != 0;
  for (const int t : lanes) assign(i.operands[0].reg, result, t);
}

void Block::instruction(const Instruction& i, const Lanes& lanes) {
  const isa::Example& e = Catalogue::get().example(i.example);
  const Place place =
      Catalogue::get().rows()[static_cast<std::size_t>(Catalogue::get().row_of(i.example))].place;
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
    if (d.kind == Operand::Kind::kRegister)
      assign(d.reg, v.first, t);
    else
      assign(d.elements[0], v.first, t), assign(d.elements[1], v.second, t);
  }
}

bool reference_knows(const isa::Example& e, Place place) {
  const isa::Modifiers& m = e.spelling.modifiers;
  switch (place) {
    case Place::kLoad:
    case Place::kStore:
    case Place::kBarrier:
    case Place::kText: return true;
    case Place::kWarp: return !is_float(m.type);
    case Place::kAtomic: {
      Bits to;
      return m.vector == 1 && updated(m, 0, 0, 0, &to);
    }
    case Place::kCompute:
    case Place::kCarry: {
      const Bits in[8] = {};
      std::size_t n = 0;
      for (std::size_t k = 1; k < e.operands->size(); ++k)
        n += (*e.operands)[k].role == Role::kSourceVector ? 2 : 1;
      bool carry = false;
      Values to;
      return evaluate(e.spelling, {in, n}, carry, to);
    }
    default: return false;
  }
}

}  // namespace lockstep::fuzz::differential
