#include "simulator/exec/counter_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace lockstep::exec {
namespace {

constexpr std::array kHeadings = {"launches",  "thread instr",   "warp instr",
                                  "lanes",     "ld sectors/req", "st sectors/req",
                                  "conflicts", "atomics",        "barriers"};
using Row = std::array<std::string, kHeadings.size()>;

// "1.50", or "-" if the divisor is 0.
std::string ratio(std::uint64_t of, std::uint64_t by) {
  if (by == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(of) / static_cast<double>(by));
  return text;
}

Row row_of(const KernelTotals& totals) {
  const auto at = [&](const char* name) -> std::uint64_t {
    const auto it = totals.counters.find(name);
    return it == totals.counters.end() ? 0 : it->second;
  };
  return {std::to_string(totals.launches),
          std::to_string(at("thread_instructions")),
          std::to_string(at("warp_instructions")),
          ratio(at("thread_instructions"), at("warp_instructions")),
          ratio(at("global_load_sectors"), at("global_load_requests")),
          ratio(at("global_store_sectors"), at("global_store_requests")),
          std::to_string(at("shared_load_bank_conflicts") + at("shared_store_bank_conflicts")),
          std::to_string(at("atomics")),
          std::to_string(at("barriers"))};
}

}  // namespace

std::string counter_table(const RunRecord& record) {
  std::vector<std::pair<Row, std::string>> rows;
  for (const std::string& kernel : record.kernels) {
    if (const auto it = record.totals.find(kernel);
        it != record.totals.end() && !it->second.counters.empty())
      rows.emplace_back(row_of(it->second), kernel);
  }
  if (rows.empty()) return {};
  std::array<std::size_t, kHeadings.size()> widths;
  for (std::size_t i = 0; i < kHeadings.size(); ++i) {
    widths[i] = std::string_view(kHeadings[i]).size();
    for (const auto& [row, kernel] : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string table;
  const auto put = [&](std::size_t i, std::string_view cell) {
    table.append(widths[i] - cell.size(), ' ').append(cell).append("  ");
  };
  for (std::size_t i = 0; i < kHeadings.size(); ++i) put(i, kHeadings[i]);
  table += "kernel\n";
  for (const auto& [row, kernel] : rows) {
    for (std::size_t i = 0; i < kHeadings.size(); ++i) put(i, row[i]);
    table += kernel + "\n";
  }
  return table;
}

}  // namespace lockstep::exec
