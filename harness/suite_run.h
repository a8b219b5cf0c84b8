// One suite, run in a process of its own under its time limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/subprocess.h"
#include "harness/suite_result.h"
#include "harness/suites.h"

namespace lockstep {

struct SuiteOptions {
  std::string cases, seed, device, replay;  // as the user wrote them; empty: not given
  std::string gpu = "simulated";            // LOCKSTEP_GPU
  std::string replay_command;               // what replay lines begin with, up to the suite's name
  std::uint64_t random_seed = 0;            // mixed into the seed of every property; 0: seeds from names alone
  int host_threads = 0;                     // of the simulated GPU; 0: as the caller's environment says
  double time_limit = 900;                  // seconds
};

// Where a run in `out` keeps what a suite leaves.
std::filesystem::path ledger_of(const Suite& suite, const std::filesystem::path& out);
std::filesystem::path log_of(const Suite& suite, const std::filesystem::path& out);

// Makes the folders of a run; empty, or a sentence.
std::string make_run_folder(const std::filesystem::path& out);

// The folders of `out` must be there. Calls `tick` now and then while the suite runs. Safe to call for different suites
// or folders at the same time.
SuiteResult run_suite(const Suite& suite, const SuiteOptions& options, const std::filesystem::path& out,
                      const std::function<void(double seconds)>& tick = {});

}  // namespace lockstep
