// Derives verdicts from the lines that mutants and their parent write (runtime/mutation/plan.h).
#pragma once

#include <cstdint>
#include <ios>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// The recorded facts about one process.
struct Trace {
  bool ended = false, died = false, late = false;
  int end = 0;     // the program's own exit status
  int status = 0;  // as wait() returns it
  double seconds = 0;
  std::string finding,
      text;  // the simulated GPU's first error: its kind, and its printed text
  std::string refused, skipped;
  std::uint64_t part = 0;           // the part of the program in which it ended, or was forked
  std::optional<std::string> felt;  // the parts in which it may have had an effect
  std::string reason;               // the reason found by an earlier judgement
  bool over() const { return died || !skipped.empty(); }
};

// The traces in a growing file, by mutant. Ignores lines that cannot be read.
class Traces {
 public:
  explicit Traces(std::string path) : path_(std::move(path)) {}
  // Reads the complete lines that were added since the last call.
  const std::map<int, Trace>& read();

 private:
  std::string path_;
  std::streamoff read_ = 0;  // the bytes read so far
  std::map<int, Trace> traces_;
};

struct Judgement {
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;
};
// Judges a mutant. `usual`: the exit status of the unchanged program. `checks`: the simulated GPU's
// checks ran, and the mutant passed without them, so a failure is due to their findings. `output`:
// the mutant's output, used for the reason.
Judgement judge_trace(const Trace& trace, int usual, bool checks, const std::string& output);

}  // namespace lockstep::exec
