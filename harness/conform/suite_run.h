// One suite, run on the device that was chosen, in a process of its own (and more, where that one
// dies) under limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/conform/ledger_monitor.h"
#include "harness/conform/suite_result.h"
#include "harness/conform/suites.h"
#include "harness/conform/target.h"

namespace lockstep {

struct SuiteOptions {
  std::string cases, seed, replay;  // as the user wrote them; empty: not given
  Target target;
  std::string replay_command;  // what replay lines begin with, up to the suite's name
  std::vector<std::string> prefix =
      {};  // words that start the program that starts a suite's: a sanitizer and its options
  std::uint64_t random_seed =
      0;                        // mixed into the seed of every property; 0: seeds from names alone
  int host_threads = 0;         // of the simulated GPU; 0: as the caller's environment says
  double scale = 1;             // of each property's own number of cases
  bool fail_fast = false;       // the program ends with the first property that fails
  double time_limit = 900;      // seconds that a process may take
  double property_limit = 300;  // and one property in it
};

// The environment of a program on that device: the CUDA runtime that it loads, and its options.
Command command_on(const Target& target);

// Makes the folders of a run; empty, or a sentence.
std::string make_run_folder(const std::filesystem::path& out);

// The folders of `out` must be there. Calls `tick` now and then while the suite runs. Safe to call
// for different suites or folders at the same time.
SuiteResult run_suite(const Suite& suite, const SuiteOptions& options,
                      const std::filesystem::path& out,
                      const std::function<void(const SuiteProgress&)>& tick = {});

}  // namespace lockstep
