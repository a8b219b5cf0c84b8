#include "simulator/exec/run_record.h"

#include <algorithm>
#include <fstream>
#include <map>
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
      if (key != "device" && value.is_number_unsigned())
        sum.counters[key] += value.get<std::uint64_t>();
    }
  }
}

// Times by instruction; the key is the instruction without "spent".
using TimeByInstruction = std::map<std::string, json>;

void add_time(const json& instruction, TimeByInstruction* times) {
  json name = instruction;
  name.erase("spent");
  json& sum = times->try_emplace(name.dump(), name).first->second["spent"];
  if (sum.is_null()) sum = json::object();
  const json spent = instruction.value("spent", json::object());
  for (const auto& [what, seconds] : spent.items())
    sum[what] = sum.value(what, 0.0) + seconds.get<double>();
}

// Combines launches with the same proofs.
class Certificates {
 public:
  explicit Certificates(json* into) : into_(*into) {}
  void add(json certificate, std::uint64_t launches) {
    const auto [at, first] = numbers_.try_emplace(certificate.dump(), into_.size());
    certificate["launches"] = launches;
    if (first) {
      into_.push_back(std::move(certificate));
    } else {
      json& known = into_[at->second]["launches"];
      known = known.get<std::uint64_t>() + launches;
    }
  }

 private:
  json& into_;
  std::map<std::string, std::size_t> numbers_;  // index by the proved properties
};

}  // namespace

std::size_t RunRecord::errors() const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), is_error));
}

std::uint64_t RunRecord::launches() const {
  std::uint64_t sum = 0;
  for (const auto& [kernel, of] : totals) sum += of.launches;
  return sum;
}

RunRecord read_run_record(const std::string& path) {
  RunRecord record;
  std::set<std::int64_t> launching, finished;  // process ids
  struct Found {
    std::int64_t pid = 0;
    std::uint64_t number = 0;
    bool suppressed = false, taken = false;
    json finding;
  };
  std::vector<Found> all;
  Certificates certificates(&record.certificates);
  TimeByInstruction times;
  std::ifstream file(path);
  record.lossy = !file;
  for (std::string text; std::getline(file, text);) {
    if (text.empty()) continue;
    const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) {
      record.lossy = true;
      continue;
    }
    record.lossy |= line.value("lost", 0) != 0;
    const std::int64_t pid = line.value("pid", std::int64_t{0});
    if (line.contains("device")) {
      record.device = line.value("device", "");
      record.schedule = line.value("schedule", std::uint64_t{0});
      record.checks = line.value("checks", "");
    } else if (line.contains("certificate")) {
      if (line["certificate"].is_object())
        certificates.add(line["certificate"], line.value("launches", std::uint64_t{1}));
    } else if (line.contains("profile")) {
      for (const json& instruction : line["profile"]) add_time(instruction, &times);
    } else if (line.contains("library_call")) {
      record.library_calls[line.value("library_call", "")] +=
          line.value("launches", std::uint64_t{0});
    } else if (line.contains("kernel")) {
      const std::string name = line.value("kernel", "");
      if (std::find(record.kernels.begin(), record.kernels.end(), name) == record.kernels.end())
        record.kernels.push_back(name);
      record.totals[name].launches += line.value("launches", std::uint64_t{0});
      launching.insert(pid);
    } else if (line.contains("finding")) {
      const Found found{pid, line.value("number", std::uint64_t{0}),
                        line.value("suppressed", false), false, line["finding"]};
      const auto same = [&](const Found& f) {
        return f.number != 0 && f.number == found.number && f.pid == pid;
      };
      if (const auto known = std::find_if(all.begin(), all.end(), same); known != all.end()) {
        known->finding = found.finding;
      } else {
        all.push_back(found);
      }
    } else if (line.contains("taken")) {
      for (Found& f : all) f.taken |= f.pid == pid;
    } else if (line.contains("coverage")) {
      add_coverage(line["coverage"], &record.coverage);
    } else if (line.contains("totals")) {
      add_totals(line["totals"], &record);
      record.refused_launches += line.value("refused_launches", std::uint64_t{0});
      record.repeated_launches += line.value("repeated_launches", std::uint64_t{0});
      finished.insert(pid);
    }
  }
  for (auto& [name, instruction] : times) record.profile.push_back(std::move(instruction));
  for (Found& f : all) {
    record.untaken_errors |= !f.suppressed && !f.taken && is_error(f.finding);
    (f.suppressed ? record.suppressed : record.findings).push_back(std::move(f.finding));
  }
  for (const std::int64_t pid : launching) record.unfinished += finished.count(pid) == 0;
  return record;
}

}  // namespace lockstep::exec
