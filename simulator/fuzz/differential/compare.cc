#include "simulator/fuzz/differential/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simulator/fuzz/differential/printer.h"
#include "simulator/fuzz/differential/reference.h"

namespace lockstep::fuzz::differential {

std::string first_difference(const Program& p, const std::vector<std::uint8_t>& a,
                             const std::vector<std::uint8_t>& b, const std::string& voter) {
  const Layout layout(p);
  for (std::size_t i = 0; i + 4 <= std::min(a.size(), b.size()); i += 4) {
    std::uint32_t x, y;
    std::memcpy(&x, &a[i], 4);
    std::memcpy(&y, &b[i], 4);
    if (x == y) continue;
    const auto at = static_cast<std::uint32_t>(i);
    std::string where;
    if (at < layout.scratch) {
      const std::uint32_t thread = at / Layout::kOutput, o = at % Layout::kOutput;
      const std::string what =
          o < 32   ? fmt::format("r{}", o / 4)
          : o < 64 ? fmt::format("d{}{}", (o - 32) / 8, o % 8 ? " (upper half)" : "")
          : o < 72 ? fmt::format("h{} and h{}", (o - 64) / 2, (o - 64) / 2 + 1)
                   : std::string("the predicates");
      where = fmt::format("block {}, thread {}: {}", thread / p.threads, thread % p.threads, what);
    } else if (at < layout.sums) {
      where = fmt::format("byte {} of thread {}'s scratch memory", (at - layout.scratch) % kPrivate,
                          (at - layout.scratch) / kPrivate);
    } else if (at < layout.shared_sums) {
      where = fmt::format("sum {} of the grid", (at - layout.sums) / 8);
    } else {
      where = fmt::format("sum {} of block {}", (at - layout.shared_sums) / 8 % kSums,
                          (at - layout.shared_sums) / (8 * kSums));
    }
    return fmt::format("{} is {:08x}, by {} {:08x}", where, x, voter, y);
  }
  return a.size() == b.size() ? "the same" : "of different size";
}

Judgement judge(const Program& program, Simulator& simulator, std::uint64_t schedules) {
  const Program programs[] = {program};
  if (const std::string why = simulator.load(programs, {}); !why.empty()) return {"refused", why};
  const Result base = simulator.run(program, 0, {});
  if (!base.error.empty()) {
    // A finding may reveal a register that lost its slot too early.
    if (simulator.load(programs, {.registers = engine::RegisterPlaces::kSeparate}).empty() &&
        simulator.run(program, 0, {}).error.empty())
      return {"registers", base.error};
    return {"finding", base.error};
  }
  const auto differs = [&](const Result& r, const std::string& voter) -> Judgement {
    if (!r.error.empty()) return {voter, r.error};
    if (r.memory != base.memory)
      return {voter, first_difference(program, base.memory, r.memory, voter)};
    return {};
  };
  if (program.referenced) {
    if (auto j = differs({{}, reference_result(program)}, "reference"); !j.voter.empty()) return j;
  }
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    if (auto j = differs(simulator.run(program, 0, {.schedule_seed = seed}), "schedule");
        !j.voter.empty()) {
      j.detail = fmt::format("seed {}: {}", seed, j.detail);
      return j;
    }
  }
  if (program.blocks > 1) {
    if (auto j = differs(simulator.run(program, 0, {.host_threads = 2}), "threads");
        !j.voter.empty())
      return j;
  }
  if (auto j = differs(simulator.run(program, 0, {.checks = check::kNoChecks}), "checks");
      !j.voter.empty())
    return j;
  if (const std::string why =
          simulator.load(programs, {.registers = engine::RegisterPlaces::kSeparate});
      !why.empty())
    return {"registers", why};
  if (auto j = differs(simulator.run(program, 0, {}), "registers"); !j.voter.empty()) return j;
  if (program.target < 100) {
    const int other = program.target < 90 ? 90 : 100;
    if (const std::string why = simulator.load(programs, {.target = other}); !why.empty())
      return {fmt::format("target {}", other), why};
    return differs(simulator.run(program, 0, {}), fmt::format("target {}", other));
  }
  return {};
}

}  // namespace lockstep::fuzz::differential
