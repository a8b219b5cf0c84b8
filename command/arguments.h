// The values of each command's options, as the tools use them. Data only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::command {

// run and list. Numbers with additional checks are kept as text; empty: not given.
struct RunArguments {
  std::vector<std::string> suites;  // each is one name, or several between commas
  std::string pattern;              // -k
  std::string cases, seed, random_seed, device, replay, sanitizer, manifest;
  std::string out;  // empty: not given; a replay and a run then have different folders
  double scale = 1;
  std::optional<int> jobs;
  int repeat = 1;
  double time_limit = 900, property_limit = 300;  // seconds
  bool quick = false, stop = false, last_failed = false;
  bool names_only = false;  // for list: print only the suites
  std::string target;       // target of a project that the command has found
  std::string config;       // the configuration file, read by command::parse
};

// the value of --profile without a file
inline constexpr const char* kProfilePrinted = "true";

// exec, counters and coverage.
struct ExecArguments {
  std::map<std::string, std::string> set;  // LOCKSTEP_... variables that the command line sets
  std::vector<std::string> reports;
  bool require_kernels = false, quiet = false, stop = false;
  std::string tracefile = "coverage.info", text;
  std::vector<std::string> only;
  bool toolkit = false;
  std::string root;         // source file names are relative to this; empty: not given
  std::string annotations;  // "github", "lines", "none"; empty: depends on GITHUB_ACTIONS
  std::string write_suppressions;
  std::string profile;      // kProfilePrinted, or also a file; empty: none
  std::string certificate;  // a file, or "-" for stdout; empty: none
  bool watch = false;
  std::vector<std::string> watched;  // files besides the program
  std::string config;                // the configuration file, read by command::parse
};

struct MutateArguments {
  int sample = 0;                      // number of randomly selected mutants; 0: all
  std::uint64_t seed = 1;              // of this selection
  std::vector<std::string> operators;  // names, "kernels" or "calls"; empty: all
  int jobs = 0;                        // 0: one per processor
  std::string out = "lockstep-mutation";
  double fail_under = -1;  // per cent
  std::string files;       // a regular expression for source files: only mutants of kernels in them
  std::string callers;     // a regular expression for functions: only mutants of calls in them
  std::string equivalents;           // file
  std::vector<std::string> first;    // arguments that make the program do less, for a first round
  std::vector<std::string> sources;  // folders with source files
  bool resume = false;
  bool trust_equivalents = false;  // equivalent mutants that survive are not run further
  bool whole_runs = false;         // every mutant runs to its end
  std::string config;              // the configuration file, read by command::parse
};

struct PassportArguments {
  std::string before, after;  // for diff
  std::string folder;         // for report
  std::string compared_with;  // for report: an earlier passport; empty: none
};

// judge and compare. The Python package parses the same words again, to the same values.
struct JudgeArguments {
  std::string task;                // a Python file
  std::string candidate, old_one;  // candidate: for judge; for compare, with old_one before it
  std::string entry, device = "sm_90", json, html;
  int cases = 12;
  std::string seed;        // empty: drawn
  double time_limit = 60;  // seconds
  int memory_limit = 4;    // GiB
  std::string config;      // the configuration file, read by command::parse
  std::string isolation = "full";
};

}  // namespace lockstep::command
