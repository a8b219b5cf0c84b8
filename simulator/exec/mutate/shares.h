// Results of several processes that each run a share of a program's parts.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// Surveys of the shares of one program, as one. `instructions` and `status` are the largest ones,
// `seconds` is the sum. A kernel mutant's `at` is then only 0 or not: launches are counted by
// share.
Survey joined_surveys(std::vector<Survey> shares);

// The union of sets of parts (runtime/mutation/parts.h).
std::string joined_parts(const std::string& a, const std::string& b);

// A share of a round that has ended.
struct Share {
  std::string lines;   // its file of lines (runtime/mutation/plan.h)
  bool whole = false;  // the unchanged program came to its end
};

// About the mutants that all shares together have judged.
struct JoinedLines {
  std::vector<std::string> lines;
  std::vector<std::pair<int, std::size_t>> killed_by;  // mutants and the shares
};

// Joins what the shares know of the mutants `ids`. A mutant is killed if a share has killed it: the
// one that did in the earliest part. A mutant is skipped if a share has skipped it and none has
// killed it. It survives if it does in each share that came to it. Left out: mutants of which too
// little is known.
JoinedLines joined_lines(const std::vector<Share>& shares, const std::vector<int>& ids, int usual,
                         bool checks);

}  // namespace lockstep::exec
