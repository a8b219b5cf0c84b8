// Runs every law of properties/memory_access.h on the memory accesses, and checks the table of
// transactions.
#include "kernels/memory_access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/ledger/session.h"
#include "harness/property/case.h"
#include "harness/property/property.h"
#include "properties/memory_access.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const MemoryAccess access;  // the real launchers

const bool proved = prove("MemoryAccess", memory_access_laws(), access);

// All combinations of the parameters that decide the sectors of a warp's request: pattern, element
// size, offset, load path and partial warps; also for stores.
TEST(MemoryAccess, EveryPatternSizeOffsetAndPathEqualsTheModel) {
  using enum kernels::PatternKind;
  using enum kernels::LoadPath;
  std::uint64_t loads = 0, stores = 0, sectors = 0;
  const auto judge = [&](const char* what, const AccessCase& c, const TransactionCount& t) {
    EXPECT_TRUE(t.counted.requests == t.model.requests && t.counted.lines == t.model.lines &&
                t.counted.sectors == t.model.sectors)
        << what << " with " << print_case(c) << ": " << t.model.lines << " lines and "
        << t.model.sectors << " sectors by the model, " << t.counted.lines << " and "
        << t.counted.sectors << " counted";
    sectors += t.model.sectors;
  };
  AccessCase c;
  c.n = 32;
  const auto sweep = [&] {
    for (const int bytes : {1, 2, 4, 8, 16}) {
      for (const auto& [kind, factor] : {std::pair{kConsecutive, 1},
                                         {kPermuted, 5},
                                         {kOneAddress, 1},
                                         {kStrided, 2},
                                         {kStrided, 33},
                                         {kRandom, 7}}) {
        c.bytes = bytes, c.kind = kind, c.factor = factor;
        const std::vector<kernels::LoadPath> paths = {kDefault, kCa, kCg, kReadOnly};
        const std::vector<TransactionCount> counts = count_gather_loads(access, c, paths);
        for (std::size_t i = 0; i < paths.size(); ++i) {
          c.path = paths[i];
          judge("loads", c, counts[i]), ++loads;
        }
        if (kind == kOneAddress || kind == kRandom) continue;  // no patterns of a scatter
        judge("stores", c, count_scatter_stores(access, c)), ++stores;
      }
    }
  };
  // Offsets with all lanes and with some lanes: as many, evenly spaced, as --scale, --quick or
  // --cases request.
  constexpr int kOffsets = 33, kAll = 2 * kOffsets;
  const int wanted =
      std::min(kAll, lockstep::detail::session_property_options("MemoryAccess", kAll).cases);
  std::optional<std::string> not_applicable;
  for (int i = 0; i < wanted && !not_applicable && !HasFailure(); ++i) {
    const int place = i * kAll / wanted;
    c.offset = place / 2, c.lanes = place % 2 == 0 ? 32 : 13;
    const CaseOutcome outcome = run_case([&] {
      require_capability({Capability::kSimulator});
      sweep();
    });
    not_applicable = outcome.not_applicable;
    EXPECT_TRUE(outcome.held() || not_applicable) << outcome.failure.message;
  }
  if (not_applicable) {
    current_record().verdict = Verdict::kNotApplicable;
    current_record().reason = *not_applicable;
    GTEST_SKIP() << "not applicable: " << *not_applicable;
  }
  EXPECT_EQ(loads, static_cast<std::uint64_t>(wanted) * 5 * 6 * 4);
  EXPECT_EQ(stores, static_cast<std::uint64_t>(wanted) * 5 * 4);
  current_record().cases = loads + stores;
  fmt::print(
      "{} loads and {} stores of one warp: requests, lines and sectors ({} in all) equal the model "
      "in each\n",
      loads, stores, sectors);
}

// One warp with elements of 4 bytes unless noted: the patterns of the usual guides to coalescing.
// `lines` and `sectors` are the guides' figures. The model must return them, and the counters must
// equal the model.
struct TableRow {
  const char* pattern;
  bool store;
  AccessCase c;
  std::uint64_t lines, sectors;
};

AccessCase one_warp(kernels::PatternKind kind, int offset, int factor = 1, int lanes = 32) {
  AccessCase c;
  c.n = 32;
  c.kind = kind;
  c.offset = offset;
  c.factor = factor;
  c.lanes = lanes;
  return c;
}

std::vector<TableRow> table() {
  using enum kernels::PatternKind;
  std::vector<TableRow> rows = {
      {"load: aligned, consecutive", false, one_warp(kConsecutive, 0), 1, 4},
      {"load: aligned, permuted", false, one_warp(kPermuted, 0, 5), 1, 4},
      {"load: one address", false, one_warp(kOneAddress, 7), 1, 1},
      {"load: stride 2", false, one_warp(kStrided, 0, 2), 2, 8},
      {"load: scattered over 32 lines", false, one_warp(kStrided, 0, 32), 32, 32},
      {"store: 128 bytes, aligned", true, one_warp(kConsecutive, 0), 1, 4},
      {"store: 64 bytes, aligned", true, one_warp(kConsecutive, 0, 1, 16), 1, 2},
      {"store: three segments in 192 bytes", true, one_warp(kStrided, 0, 16, 3), 2, 3},
  };
  for (int k = 1; k <= 32; ++k) {
    // A shift by whole sectors needs four sectors, any other shift five. A shift by a whole line is
    // no shift.
    rows.push_back(
        {k % 8 == 0 ? "load: consecutive, shifted by sectors" : "load: consecutive, misaligned",
         false, one_warp(kConsecutive, k), k % 32 == 0 ? 1u : 2u, k % 8 == 0 ? 4u : 5u});
  }
  return rows;
}

TEST(MemoryAccess, TransactionTable) {
  std::string printed =
      fmt::format("{:<40}{:>7}{:>8}{:>10}{:>9}{:>9}{:>9}{:>10}{:>7}\n", "one warp, 4 bytes a lane",
                  "offset", "lines", "wanted", "sectors", "wanted", "counted", "counted", "equal");
  // The table for the passport, with tabs between cells.
  std::string& cells = current_record().notes["table.Transactions of one warp, 4 bytes a lane"];
  cells =
      "pattern\toffset\tlines\tof them wanted\tsectors\tof them wanted\tlines counted\tsectors "
      "counted\tequal";
  const CaseOutcome outcome = run_case([&] {
    if (!is_simulator()) require_capability({Capability::kSimulator});
    for (const TableRow& row : table()) {
      const TransactionCount t =
          row.store ? count_scatter_stores(access, row.c) : count_gather_loads(access, row.c);
      const bool equal = t.model.lines == row.lines && t.model.sectors == row.sectors &&
                         t.counted.lines == t.model.lines && t.counted.sectors == t.model.sectors;
      printed +=
          fmt::format("{:<40}{:>7}{:>8}{:>9.3f}%{:>9}{:>8.1f}%{:>9}{:>10}{:>7}\n", row.pattern,
                      row.c.offset, t.model.lines, 100 * t.model.line_efficiency(), t.model.sectors,
                      100 * t.model.sector_efficiency(), t.counted.lines, t.counted.sectors,
                      equal ? "yes" : "NO");
      cells += fmt::format("\n{}\t{}\t{}\t{:.3f} %\t{}\t{:.1f} %\t{}\t{}\t{}", row.pattern,
                           row.c.offset, t.model.lines, 100 * t.model.line_efficiency(),
                           t.model.sectors, 100 * t.model.sector_efficiency(), t.counted.lines,
                           t.counted.sectors, equal ? "yes" : "NO");
      EXPECT_TRUE(equal) << row.pattern << ", offset " << row.c.offset << ": " << row.lines
                         << " lines and " << row.sectors << " sectors expected";
    }
  });
  if (outcome.not_applicable) {
    current_record().verdict = Verdict::kNotApplicable;
    current_record().reason = *outcome.not_applicable;
    current_record().notes.clear();
    GTEST_SKIP() << "not applicable: " << *outcome.not_applicable;
  }
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  fmt::print("{}", printed);
}

}  // namespace
}  // namespace lockstep::properties
