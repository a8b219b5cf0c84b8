// Derives verdicts from the lines that mutants and their parent write (runtime/mutation/plan.h).
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
  int end = 0;     // the program's own exit status
  int status = 0;  // as wait() returns it
  double seconds = 0;
  std::string finding,
      text;  // the first error that the simulated GPU found, by kind and as printed
  std::string refused, skipped;
  std::string reason;  // from an earlier judgement
  bool over() const { return died || !skipped.empty(); }
};

// Traces from a growing file, by id. Malformed lines are ignored.
class Traces {
 public:
  explicit Traces(std::string path) : path_(std::move(path)) {}
  // Returns the traces of all complete lines so far. Reads only the new part of the file.
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
// `usual`: the exit status of the unchanged program. `checks`: the simulated GPU's checks ran, and
// the mutant had passed without them; so their findings are the reason for a failure. `output`:
// what the mutant printed, for the reason.
Judgement judge_trace(const Trace& trace, int usual, bool checks, const std::string& output);

}  // namespace lockstep::exec
