// From the lines that mutants and their parent leave (runtime/mutation/plan.h) to verdicts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// What is known of one process.
struct Trace {
  bool ended = false, died = false, late = false;
  int end = 0;     // exit status of the program's own
  int status = 0;  // as wait() gives it
  double seconds = 0;
  std::string finding, text;  // the first error that the simulated GPU found, by kind and as it prints it
  std::string refused, skipped;
  std::string reason;  // that an earlier look at it gave
  bool over() const { return died || !skipped.empty(); }
};

// By id. Lines that cannot be read are left out.
std::map<int, Trace> read_traces(const std::string& path);

struct Judgement {
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;
};
// `usual`: the status with which the unchanged program ends. `checks`: the simulated GPU's checks ran, and without them the program was content, so that what
// they found is what made it fail. `output`: what the mutant printed, for the reason.
Judgement judge_trace(const Trace& trace, int usual, bool checks, const std::string& output);

}  // namespace lockstep::exec
