// Runs one suite on the selected device, within time limits, in a process of its own; in further
// processes if that process dies.
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
  std::string replay_command;  // the beginning of replay lines, up to the suite's name
  std::vector<std::string> prefix =
      {};  // words in front of the suite's command: a sanitizer and its options
  std::uint64_t random_seed =
      0;                    // mixed into the seed of every property; 0: seeds depend on names alone
  int host_threads = 0;     // of the simulated GPU; 0: as in the caller's environment
  double scale = 1;         // factor for each property's own number of cases
  bool fail_fast = false;   // the program ends after the first property that fails
  double time_limit = 900;  // the most seconds for a process
  double property_limit = 300;  // the most seconds for one property
};

// The environment of a program on this device: its CUDA runtime, and the options.
Command command_on(const Target& target);

// Makes the folders of a run. Returns an empty text, or a sentence with the error.
std::string make_run_folder(const std::filesystem::path& out);

// Runs one suite. The folders of `out` must exist. Calls `tick` regularly while the suite runs. May
// be called concurrently for different suites or folders.
SuiteResult run_suite(const Suite& suite, const SuiteOptions& options,
                      const std::filesystem::path& out,
                      const std::function<void(const SuiteProgress&)>& tick = {});

}  // namespace lockstep
