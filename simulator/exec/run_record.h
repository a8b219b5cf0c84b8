// The simulated runtime's record of a run (runtime/state/record.h), combined from all its
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
  std::uint64_t launches = 0;                     // launches that began, in all processes
  std::map<std::string, std::uint64_t> counters;  // by the names of extension.h's lockstepCounters;
                                                  // from processes that ended normally
};

struct RunRecord {
  std::string device;  // "sm_90"; empty when no process reached a simulated device
  std::uint64_t schedule = 0;
  std::string checks;  // "all", "none", or the names of the checks that ran; from the last process
  nlohmann::json findings = nlohmann::json::array();  // in order, with the format of extension.h
  nlohmann::json suppressed = nlohmann::json::array();
  std::vector<std::string> kernels;            // launched at least once, in order
  std::map<std::string, KernelTotals> totals;  // by kernel, over devices and processes
  std::map<std::string, std::uint64_t>
      library_calls;  // executed calls by function, in all processes
  // The proofs of launches, each with "launches"; from all processes, in order.
  nlohmann::json certificates = nlohmann::json::array();
  // The time profile: instructions with "spent", from all processes that ended normally.
  nlohmann::json profile = nlohmann::json::array();
  CoverageRecord coverage;  // from processes that ended normally
  // Of processes that ended normally: launches that the simulated GPU refused, and launches that
  // were not executed because they repeated an earlier one.
  std::uint64_t refused_launches = 0, repeated_launches = 0;
  int unfinished = 0;  // processes without counters and coverage: they crashed or called _exit
  bool lossy = false;  // something could not be recorded: findings may be missing
  bool untaken_errors = false;  // an error that its process did not handle

  std::size_t errors() const;      // findings that are errors, not information
  std::uint64_t launches() const;  // sum over all kernels
  bool has_work() const { return !kernels.empty() || !library_calls.empty(); }
};

// Ignores lines that cannot be read: they were not written completely.
RunRecord read_run_record(const std::string& path);

}  // namespace lockstep::exec
