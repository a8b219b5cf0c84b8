// Passports of invented runs, in the format that `./lockstep run` writes.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/run_report.h"

namespace lockstep {

// A run of one suite "made" on an H100, which a test may change before it writes it.
struct MadeRun {
  std::vector<Record> records = {record("Made.Holds"), record("Made.Rounds"),
                                 record("Made.IsTimed")};
  std::map<std::string, std::string> device = {{"name", "NVIDIA H100 80GB HBM3"},
                                               {"compute_capability", "9.0"},
                                               {"simulated", "false"},
                                               {"uuid", "GPU-1"}};
  std::map<std::string, std::string> options;
  std::string created = "2026-11-21T11:30:00Z";

  MadeRun() {
    records[1].budget = 0.5;
    records[1].notes["digest"] = "0123456789abcdef";
    time(100);
  }

  static Record record(const std::string& property) {
    Record r;
    r.property = property;
    r.verdict = Verdict::kPass;
    r.cases = 200;
    r.seed = 7;
    return r;
  }

  // Sets the time of Made.IsTimed, in microseconds; the interval extends by `share` of it to either
  // side.
  void time(double us, double share = 0.01) {
    records[2].notes["timing.copy"] = fmt::format(
        R"({{"name": "copy", "median_us": {}, "low_us": {}, "high_us": {}, "samples": 60}})", us,
        (1 - share) * us, (1 + share) * us);
  }

  void fail(std::size_t i, const std::string& message) {
    records[i].verdict = Verdict::kFail;
    records[i].reason = "mismatch";
    records[i].message = message;
    records[i].minimal_case = "n=33 poison=nan";
    records[i].replay =
        "./lockstep run --suite=made '--case=" + records[i].property + ": n=33 poison=nan'";
  }

  std::string json() const {
    LedgerFile file;
    file.device = device;
    file.complete = true;
    bool red = false;
    for (const Record& r : records) {
      file.planned.push_back(r.property);
      file.records.push_back(r);
      red = red || !problem_of(r).empty();
    }
    ProcessEnd end;
    end.how = ProcessEnd::How::kExited;
    end.status = red ? 1 : 0;
    RunReport report;
    report.created = created;
    report.commit = "0123456789abcdef0123";
    report.options = options;
    report.suites.push_back(assess({"made", "tests/made", "//tests:made_test"}, end, file, ""));
    return passport_json(report);
  }

  void write(const std::string& path) const { std::ofstream(path) << json(); }
};

}  // namespace lockstep
