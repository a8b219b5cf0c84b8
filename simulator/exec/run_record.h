// What the simulated runtime recorded of a run (runtime/state/record.h), gathered from all of its
// processes.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/exec/coverage_record.h"

namespace lockstep::exec {

struct KernelTotals {
  std::uint64_t launches = 0;  // begun, of all processes
  std::map<std::string, std::uint64_t>
      counters;  // by the names of extension.h's lockstepCounters; of processes that ended normally
};

struct RunRecord {
  std::string device;  // "sm_90"; empty when no process reached a simulated device
  std::uint64_t schedule = 0;
  std::string checks;  // "all", "none", or the names of those that ran; of the last process
  nlohmann::json findings = nlohmann::json::array();  // as extension.h describes them, in order
  nlohmann::json suppressed = nlohmann::json::array();
  std::vector<std::string> kernels;                    // launched at least once, in order
  std::map<std::string, KernelTotals> totals;          // by kernel, over devices and processes
  std::map<std::string, std::uint64_t> library_calls;  // executed, by function, of all processes
  // What was proved of launches, each with "launches": of all processes, in order.
  nlohmann::json certificates = nlohmann::json::array();
  // Where time went: instructions, with "spent" of all processes that ended normally.
  nlohmann::json profile = nlohmann::json::array();
  CoverageRecord coverage;  // of processes that ended normally
  std::uint64_t refused_launches =
      0;  // launches that the simulated GPU did not take, of processes that ended normally
  int unfinished =
      0;  // processes whose counters and coverage are missing: they crashed, or left by _exit
  bool lossy = false;           // something could not be recorded: findings may be missing
  bool untaken_errors = false;  // an error that its process did not take

  std::size_t errors() const;      // of the findings; the others are information
  std::uint64_t launches() const;  // of all kernels
  bool has_work() const { return !kernels.empty() || !library_calls.empty(); }
};

// A line that cannot be read is one that could not be written whole.
RunRecord read_run_record(const std::string& path);

}  // namespace lockstep::exec
