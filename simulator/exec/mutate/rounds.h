// Runs of the program: surveys, and rounds in which mutants are judged.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "simulator/exec/child.h"
#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// How the program is run.
struct Subject {
  std::vector<std::string> command;  // command[0] is a path
  Environment set;                   // with the simulated runtime's library path
  std::string folder;                // of files that a run leaves
  int jobs = 2;
  // A mutant runs only where a launch of it leaves something else than unchanged; false: from its
  // first launch to the end.
  bool compare = true;
};

// One pass over the mutants that are left.
struct Round {
  std::string name;                    // "few-cases", a part of file names
  std::vector<std::string> arguments;  // added to the program's own
  bool checks = false;                 // the simulated GPU's checks
};

// Set by the handler of SIGINT and SIGTERM: rounds end, and what is known is reported.
extern std::atomic<bool> interrupted;

// Runs the program unchanged. False, with a sentence, when it fails or launches nothing.
bool make_survey(const Subject& subject, const Round& round, Survey* survey, std::string* error);

// Judges those of `mutants` that survived or were not judged so far, as far as the survey says that
// a run comes to them. `done(n, of)` is called now and then. What an earlier, interrupted command
// has left of this round is taken over. False, and nothing is judged, when the unchanged program
// went otherwise than in the survey: that may be one of another round.
bool run_round(const Subject& subject, const Round& round, const Survey& survey,
               std::vector<Mutant>& mutants, const std::function<void(int done, int of)>& done);

}  // namespace lockstep::exec
