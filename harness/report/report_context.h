// The contents of report.html besides the passport: an earlier run, mutation scores, coverage,
// kernel counters, and links to the sources.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

// A picture of golden, actual and difference side by side, as a PNG file's bytes.
struct Picture {
  std::string scene, png;
};
// The pictures in `out`/outputs, in alphabetical order.
std::vector<Picture> read_pictures(const std::string& out);

// The result of `lockstep mutate` for one suite (docs/reference/mutation.md).
struct MutationScore {
  std::string suite;
  std::size_t killed = 0, survived = 0, not_covered = 0, equivalent = 0;  // mutants
  std::string page;  // its report, as a path relative to report.html
};
// From `out`/mutation/<suite>/mutation.json, in alphabetical order.
std::vector<MutationScore> read_mutation_scores(const std::string& out);

// The result of `lockstep coverage` for one source file.
struct FileCoverage {
  std::string file;
  std::size_t lines = 0, lines_hit = 0, branches = 0, branches_hit = 0;
};
// From `out`/coverage/coverage.info; empty if there is none.
std::vector<FileCoverage> read_coverage(const std::string& out);

// The counters of one kernel from `lockstep counters`, over all its launches
// (docs/reference/exec.md).
struct KernelCounters {
  std::string kernel;
  std::map<std::string, std::uint64_t>
      counters;  // "launches" and the simulated GPU's counters; absent counters are 0
  std::uint64_t at(const std::string& counter) const;
};
// From `out`/counters/counters.json, in the order of the kernels' first launches; empty if there is
// none.
std::vector<KernelCounters> read_counters(const std::string& out);

struct ReportContext {
  std::vector<Picture> pictures;
  std::vector<MutationScore> mutations;
  std::vector<FileCoverage> coverage;
  std::vector<KernelCounters> counters;
  std::optional<Passport> earlier;
  // The prefix of links to source files, such as "../"; empty: no links.
  std::string sources;
};
// Reads everything around a passport in `out`. The earlier passport is `out`/earlier.json. Links to
// sources begin with LOCKSTEP_SOURCES (an address or a folder) if it is set; otherwise they lead to
// the checkout around `out`.
ReportContext read_context(const std::string& out);

}  // namespace lockstep
