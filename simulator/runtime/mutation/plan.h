// The request of `lockstep mutate` to a process: the file that LOCKSTEP_MUTATION names, one JSON
// object.
//
//   "mode": "survey"   runs unchanged; at the end it writes to "out" what can be changed, and which
//                      launch or call comes to each first
//   "mode": "serve"    runs unchanged; before the launch or call that first comes to a mutant's
//                      place it forks a process that continues as the mutant; lines about these
//                      processes are appended to "out"
//   "mode": "become"   is the one mutant of the list from its module's first launch on: for
//                      programs that cannot be forked
//   "out": path
//   "share": 0, "shares": 2   of survey and serve: only the parts whose number leaves the remainder
//                      `share` when divided by `shares`; left out: all. Part 0 belongs to each
//
// Of serve and become:
//
//   "outputs": folder  each mutant's stdout and stderr, as ID.txt
//   "jobs": 2          mutants that run at the same time
//   "seconds": 10      that a mutant may run
//   "instruction_limit": N  warp instructions that a block of a mutant may run; 0: as set for the
//                      program
//   "sets": ["2c01"]   sets of parts of the program (parts.h)
//   "compare": true    a mutant of a kernel gets a process only where a launch of it leaves other
//                      memory than the unchanged launch (trial.h); of serve; "at" is then unused
//                      for such mutants
//   "status": 0        exit status of the unchanged program
//   "parts": 12        that the unchanged program begins
//   "counters": "2c01" the parts that read the counters of launches
//   "mutants": [{"id": 7, "at": 12, "parts": 0, "code": "hash",
//                "place": [module, function, instruction, edit]},
//               {"id": 8, "at": 3, "parts": 0, "site": "key", "change": "grid-x+1"}]
//     in ascending order of "at": the launch, or for the second kind the call, before which the
//     mutant is forked, from 1. "parts": the index in "sets" of the parts that come to it; left
//     out: all. "enough": where launches are compared, the number of launches with the same result
//     after which the mutant counts as a survivor; left out: all launches. "survived": whether it
//     has survived an earlier round.
//
// Lines of serve and become, each one JSON object with "id": {"end": exit status of the program's
// own, "part": in which it ended, "felt": where launches are compared, the parts in which the
// mutant may have an effect, with checks or without}, {"finding": kind, "text": ...}, {"refused":
// why}, and from the parent {"died": wait status, "seconds": s, "late": whether it was ended for
// its time, "part": in which it was forked}, {"skipped": why}.
// {"id": 0, "otherwise": true}: the unchanged program took another course than the plan's, so that
// its survivors mean nothing. {"id": 0, "whole": true}: it came to its end, and mutants without a
// line were not reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "simulator/mutation/mutant.h"
#include "simulator/runtime/mutation/parts.h"

namespace lockstep::runtime {

struct PlannedMutant {
  int id = 0;
  std::uint64_t at = 0;
  std::string code;  // of a kernel: hash_of its texts
  mutation::Place place;
  std::string site, change;          // of a call
  std::optional<std::size_t> parts;  // index into Plan::sets
  unsigned enough = 0;               // launches; 0: all
  bool survived = false;             // an earlier round
  bool of_call() const { return !site.empty(); }
};

struct Plan {
  enum class Mode { kSurvey, kServe, kBecome } mode = Mode::kSurvey;
  std::string out, outputs;
  std::uint64_t share = 0, shares = 1;
  bool has_part(std::uint64_t part) const { return shares <= 1 || part % shares == share; }
  int jobs = 1;
  double seconds = 0;
  std::uint64_t instruction_limit = 0;
  bool compare = false;
  int status = 0;
  std::uint64_t parts = 0;
  Parts counters;
  std::vector<Parts> sets;
  std::vector<PlannedMutant> mutants;
};

std::variant<Plan, std::string> read_plan(const std::string& path);

}  // namespace lockstep::runtime
