// From the lines that mutants and their parent leave (runtime/mutation/plan.h) to verdicts.
#pragma once

#include <ios>
#include <map>
#include <string>
#include <utility>

#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// What is known of one process.
struct Trace {
  bool ended = false, died = false, late = false;
  int end = 0;     // exit status of the program's own
  int status = 0;  // as wait() gives it
  double seconds = 0;
  std::string finding,
      text;  // the first error that the simulated GPU found, by kind and as it prints it
  std::string refused, skipped;
  std::string reason;  // that an earlier look at it gave
  bool over() const { return died || !skipped.empty(); }
};

// Of a file that grows, by id. Lines that cannot be read are left out.
class Traces {
 public:
  explicit Traces(std::string path) : path_(std::move(path)) {}
  // What whole lines say so far: of the file only what is new is read.
  const std::map<int, Trace>& read();

 private:
  std::string path_;
  std::streamoff read_ = 0;  // so far
  std::map<int, Trace> traces_;
};

struct Judgement {
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;
};
// `usual`: the status with which the unchanged program ends. `checks`: the simulated GPU's checks
// ran, and without them the program was content, so that what they found is what made it fail.
// `output`: what the mutant printed, for the reason.
Judgement judge_trace(const Trace& trace, int usual, bool checks, const std::string& output);

}  // namespace lockstep::exec
