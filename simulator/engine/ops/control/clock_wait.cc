#include "simulator/engine/ops/control/clock_wait.h"

#include <algorithm>

namespace lockstep::engine {

using program::Action;
using program::Op;
using program::OpKind;

namespace {

constexpr std::uint32_t kLongest = 64;            // operations of a loop
constexpr std::uint32_t kPatience = 64;           // readings
constexpr std::uint64_t kLongestLeap = 1u << 26;  // ticks: %clock has 32 bits

bool only_computes(const Op& op) {
  switch (op.action) {
    case Action::kNone: return op.kind == OpKind::kCompute;
    case Action::kBranch:
    case Action::kSleep:
    case Action::kHint:
    case Action::kSpecialRegister: return true;
    default: return false;
  }
}

}  // namespace

bool waits_by_clock(const program::Program& program, std::uint32_t pc) {
  const auto& ops = program.ops;
  const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(ops.size(), pc + kLongest));
  for (std::uint32_t last = pc; last < end; ++last) {
    const Op& op = ops[last];
    if (!only_computes(op)) return false;
    if (op.action != Action::kBranch) continue;
    const std::uint32_t first = op.as<program::BranchFields>().target();
    if (first > pc) continue;  // leaves the loop, or continues within it
    return last - first < kLongest &&
           std::all_of(ops.begin() + first, ops.begin() + pc, only_computes);
  }
  return false;
}

void pass_time(Warp& w, std::uint32_t pc) {
  WarpControl& c = *w.control;
  WarpControl::ClockWait& wait = c.clock_wait;
  const std::uint64_t now = c.instructions + c.slept;
  // More instructions than such a loop has: the warp has left the loop in between.
  if (wait.pc != pc || c.instructions - wait.last_instructions > kLongest)
    wait = {pc, 0, now, c.instructions};
  wait.last_instructions = c.instructions;
  if (++wait.reads < kPatience) return;
  if (wait.reads == kPatience && !waits_by_clock(*w.block->program, pc)) {
    wait.pc = ~0u;
    return;
  }
  c.slept += std::min((now - wait.began) / 8, kLongestLeap);
}

}  // namespace lockstep::engine
