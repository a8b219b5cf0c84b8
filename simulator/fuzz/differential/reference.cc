// Interprets the tree of a program: which threads execute which statements.
#include <utility>

#include "simulator/fuzz/differential/reference_block.h"

namespace lockstep::fuzz::differential {

using Kind = Statement::Kind;

void Block::statement(const Statement& s, const Lanes& lanes) {
  switch (s.kind) {
    case Kind::kUnit: unit(s.unit, lanes); break;
    case Kind::kBarrier: barrier(s.unit.front(), lanes); break;
    case Kind::kIf: {
      Lanes yes, no;
      for (const int t : lanes) {
        const bool c = s.uniform ? argument_bit(s) != s.negated : holds(s, t);
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
        trips[static_cast<std::size_t>(t)] =
            s.trips == Statement::Trips::kConstant ? s.count
            : s.trips == Statement::Trips::kArgument
                ? program_.arguments[s.argument]
                : static_cast<std::uint32_t>(at(t).of[2][s.reg] & 3);
      }
      const Lanes left = std::exchange(left_, {}), broken = std::exchange(broken_, {});
      Lanes rest = lanes;
      ++loops_;
      for (std::uint32_t n = 0;; ++n) {
        std::erase_if(rest, [&](int t) {
          return trips[static_cast<std::size_t>(t)] <= n ||
                 std::binary_search(broken_.begin(), broken_.end(), t) ||
                 done_[static_cast<std::size_t>(t)];
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
      if (loops_ == 0) break;  // the reducer has removed the loop
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
          std::erase_if(to[2],
                        [&](int t) { return std::binary_search(left_.begin(), left_.end(), t); });
        }
      }
      break;
    }
    case Kind::kIrreducible: {
      Lanes first, rest = lanes;
      for (const int t : lanes)
        if (s.uniform ? !argument_bit(s) : !holds(s, t)) first.push_back(t);
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
          if (a.value == Assignment::Value::kInput)
            std::memcpy(&v, input(static_cast<std::uint32_t>(t)) + a.offset, 4);
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
    assign({Class::k32, s.registers[5]},
           r.of[2][2] ^ r.of[2][5] ^ (r.of[3][1] & 0xffffffff) ^ r.of[3][1] >> 32, t);
  }
}

// The arguments are in r0, d0, r1, r2 of the frame; the results are stored in r1, r2, r5 and d1.
void Block::function(std::size_t f, const Lanes& lanes, std::vector<Registers>& frame,
                     std::vector<std::uint32_t> depth) {
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
      y.of[2][0] = x.of[2][0], y.of[3][0] = x.of[3][1], y.of[2][1] = x.of[2][3],
      y.of[2][2] = x.of[2][4];
    }
    function(f, again, inner, depth);
    for (const int t : again) {
      Registers& r = inner[static_cast<std::size_t>(t)];
      assign({Class::k32, 1}, r.of[2][1], t);
      assign({Class::k32, 2},
             r.of[2][2] ^ r.of[2][5] ^ (r.of[3][1] & 0xffffffff) ^ r.of[3][1] >> 32, t);
    }
  }
  frames_.pop_back();
}

std::vector<std::uint8_t> reference_result(const Program& program) {
  const Layout layout(program);
  std::vector<std::uint8_t> memory(layout.bytes);
  for (std::uint32_t i = 0; i < kSums; ++i)
    std::memcpy(&memory[layout.sums + 8 * i], &kSumStart, 8);
  for (std::uint32_t b = 0; b < program.blocks; ++b) Block(program, b, memory).run();
  return memory;
}

}  // namespace lockstep::fuzz::differential
