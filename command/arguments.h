// What can be typed after each command, as the tools take it: data alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::command {

// run and list. Numbers that are checked with more care than a type can are kept as they were
// typed; empty: not given.
struct RunArguments {
  std::vector<std::string> suites;  // each one name, or several between commas
  std::string pattern;              // -k
  std::string cases, seed, random_seed, device, replay, sanitizer, manifest;
  std::string out;  // empty: not given, so that a replay may choose another than a run
  double scale = 1;
  std::optional<int> jobs;
  int repeat = 1;
  double time_limit = 900, property_limit = 300;  // seconds
  bool quick = false, stop = false, last_failed = false;
  bool names_only = false;  // of list: the suites
  std::string target;       // of a project, found by the command
  std::string config;       // read by command::parse
};

// --profile without a file.
inline constexpr const char* kProfilePrinted = "true";

// exec, counters and coverage.
struct ExecArguments {
  std::map<std::string, std::string> set;  // LOCKSTEP_... by what the command line says
  std::vector<std::string> reports;
  bool require_kernels = false, quiet = false, stop = false;
  std::string tracefile = "coverage.info", text;
  std::vector<std::string> only;
  bool toolkit = false;
  std::string root;         // where names of source files begin; empty: not given
  std::string annotations;  // "github", "lines", "none"; empty: by GITHUB_ACTIONS
  std::string write_suppressions;
  std::string profile;      // kProfilePrinted; or a file besides; empty: none
  std::string certificate;  // file; "-": stdout; empty: none is written
  bool watch = false;
  std::vector<std::string> watched;  // files, beside the program
  std::string config;                // read by command::parse
};

struct MutateArguments {
  int sample = 0;                      // mutants chosen by chance; 0: all
  std::uint64_t seed = 1;              // of that choice
  std::vector<std::string> operators;  // names, "kernels" or "calls"; empty: all
  int jobs = 0;                        // 0: as many as the machine has processors
  std::string out = "lockstep-mutation";
  double fail_under = -1;  // per cent
  std::string
      files;  // a regular expression: mutants of kernels from source files that it fits alone
  std::string callers;               // likewise: of calls made in functions that it fits
  std::string equivalents;           // file
  std::vector<std::string> first;    // arguments that make the program do less, for a first round
  std::vector<std::string> sources;  // folders in which source files are looked for
  bool resume = false;
  bool trust_equivalents = false;  // survivors among them are not run further
  bool whole_runs = false;         // every mutant runs to its end
  std::string config;              // read by command::parse
};

struct PassportArguments {
  std::string before, after;  // of diff
  std::string folder;         // of report
  std::string compared_with;  // of report: an earlier passport; empty: none
};

// judge and compare. The Python package parses its words once more, to the same values.
struct JudgeArguments {
  std::string task;                // a Python file
  std::string candidate, old_one;  // of judge; of compare with the one before it
  std::string entry, device = "sm_90", json, html;
  int cases = 12;
  std::string seed;        // empty: drawn
  double time_limit = 60;  // seconds
  int memory_limit = 4;    // GiB
  std::string config;      // read by command::parse
  std::string isolation = "full";
};

}  // namespace lockstep::command
