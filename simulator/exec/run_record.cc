#include "simulator/exec/run_record.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

namespace lockstep::exec {
namespace {

using nlohmann::json;

bool is_error(const json& finding) { return finding.value("severity", "") == "error"; }

void add_totals(const json& totals, RunRecord* record) {
  for (const json& one : totals) {
    KernelTotals& sum = record->totals[one.value("kernel", "")];
    for (const auto& [key, value] : one.items()) {
      if (key == "launches") {
        sum.launches += value.get<std::uint64_t>();
      } else if (key != "device" && value.is_number_unsigned()) {
        sum.counters[key] += value.get<std::uint64_t>();
      }
    }
  }
}

}  // namespace

std::size_t RunRecord::errors() const { return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), is_error)); }

RunRecord read_run_record(const std::string& path) {
  RunRecord record;
  std::set<std::int64_t> launching, finished, with_errors;  // process ids
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;
    const std::int64_t pid = line.value("pid", std::int64_t{0});
    if (line.contains("device")) {
      record.device = line.value("device", "");
      record.schedule = line.value("schedule", std::uint64_t{0});
    } else if (line.contains("kernel")) {
      const std::string name = line.value("kernel", "");
      if (std::find(record.kernels.begin(), record.kernels.end(), name) == record.kernels.end()) record.kernels.push_back(name);
      launching.insert(pid);
    } else if (line.contains("finding")) {
      const bool suppressed = line.value("suppressed", false);
      if (!suppressed && is_error(line["finding"])) with_errors.insert(pid);
      (suppressed ? record.suppressed : record.findings).push_back(line["finding"]);
    } else if (line.contains("taken")) {
      with_errors.erase(pid);
    } else if (line.contains("totals")) {
      add_totals(line["totals"], &record);
      finished.insert(pid);
    }
  }
  record.untaken_errors = !with_errors.empty();
  for (const std::int64_t pid : launching) record.unfinished += finished.count(pid) == 0;
  return record;
}

}  // namespace lockstep::exec
