// The record that the simulated runtime wrote of a run (runtime/state/record.h), combined over all
// of its processes.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/exec/coverage_record.h"

namespace lockstep::exec {

struct KernelTotals {
  std::uint64_t launches = 0;                     // started, in all processes
  std::map<std::string, std::uint64_t> counters;  // by the names of extension.h's lockstepCounters;
                                                  // from processes that ended normally
};

struct RunRecord {
  std::string device;  // "sm_90"; empty if no process used a simulated device
  std::uint64_t schedule = 0;
  std::string checks;  // "all", "none", or the names of the enabled checks; of the last process
  nlohmann::json findings = nlohmann::json::array();  // as extension.h describes them, in order
  nlohmann::json suppressed = nlohmann::json::array();
  std::vector<std::string> kernels;                    // launched at least once, in order
  std::map<std::string, KernelTotals> totals;          // by kernel, over devices and processes
  std::map<std::string, std::uint64_t> library_calls;  // executed, by function, of all processes
  // What was proved of launches, each with "launches": from all processes, in order.
  nlohmann::json certificates = nlohmann::json::array();
  // The time profile: instructions, with "spent" summed over all processes that ended normally.
  nlohmann::json profile = nlohmann::json::array();
  CoverageRecord coverage;  // of processes that ended normally
  std::uint64_t refused_launches =
      0;               // launches that the simulated GPU refused, in processes that ended normally
  int unfinished = 0;  // processes without counters and coverage: they crashed, or ended by _exit
  bool lossy = false;  // something could not be recorded: findings may be missing
  bool untaken_errors = false;  // some process had an error that it did not take

  std::size_t errors() const;      // of the findings; the others are information
  std::uint64_t launches() const;  // of all kernels
  bool has_work() const { return !kernels.empty() || !library_calls.empty(); }
};

// A malformed line counts as one that could not be written completely.
RunRecord read_run_record(const std::string& path);

}  // namespace lockstep::exec
