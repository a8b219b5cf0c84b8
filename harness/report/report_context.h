// What report.html can show besides the passport itself: an earlier run, scores of mutants,
// coverage, counters of kernels, and where the sources are.
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
// Those that a run left in `out`/outputs, in alphabetical order.
std::vector<Picture> read_pictures(const std::string& out);

// What `lockstep mutate` found of one suite (docs/reference/mutation.md).
struct MutationScore {
  std::string suite;
  std::size_t killed = 0, survived = 0, not_covered = 0, equivalent = 0;  // mutants
  std::string page;  // its report, relative to this one
};
// From `out`/mutation/<suite>/mutation.json, in alphabetical order.
std::vector<MutationScore> read_mutation_scores(const std::string& out);

// What `lockstep coverage` found of one source file.
struct FileCoverage {
  std::string file;
  std::size_t lines = 0, lines_hit = 0, branches = 0, branches_hit = 0;
};
// From `out`/coverage/coverage.info; empty when there is none.
std::vector<FileCoverage> read_coverage(const std::string& out);

// What `lockstep counters` has counted of one kernel, over all its launches
// (docs/reference/exec.md).
struct KernelCounters {
  std::string kernel;
  std::map<std::string, std::uint64_t>
      counters;  // "launches" and those of the simulated GPU; what is not there is 0
  std::uint64_t at(const std::string& counter) const;
};
// From `out`/counters/counters.json, in the order in which the kernels were first launched; empty
// when there is none.
std::vector<KernelCounters> read_counters(const std::string& out);

struct ReportContext {
  std::vector<Picture> pictures;
  std::vector<MutationScore> mutations;
  std::vector<FileCoverage> coverage;
  std::vector<KernelCounters> counters;
  std::optional<Passport> earlier;
  std::string sources;  // "../": what a source's name is put behind to be found from the page;
                        // empty: no links
};
// All that there is around a passport in `out`: an earlier one is `out`/earlier.json. Sources are
// linked where LOCKSTEP_SOURCES says (an address or a folder, before the name of a file), or else
// in the checkout around `out`.
ReportContext read_context(const std::string& out);

}  // namespace lockstep
