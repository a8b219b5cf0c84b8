// Runs the program: surveys, and rounds in which mutants are judged.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "simulator/exec/child.h"
#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// The program under test and how it is run.
struct Subject {
  std::vector<std::string> command;  // command[0] is a path
  Environment set;                   // includes the simulated runtime's library path
  std::string folder;                // for files that runs write
  int jobs = 2;
  // A mutant runs only if one of its launches has another result than the unchanged launch. false:
  // it runs from its first launch to the end.
  bool compare = true;
};

// One pass over the remaining mutants.
struct Round {
  std::string name;                    // "few-cases", a part of file names
  std::vector<std::string> arguments;  // added to the program's own
  bool checks = false;                 // the simulated GPU's checks
};

// Set by the handler of SIGINT and SIGTERM: rounds end, and the results so far are reported.
extern std::atomic<bool> interrupted;

// Runs the program unchanged. Returns false, with a message, if it fails or launches nothing.
bool make_survey(const Subject& subject, const Round& round, Survey* survey, std::string* error);

// Judges the mutants that survived or were not judged so far, if the survey says that a run reaches
// them. `done(n, of)` is called regularly. Results that an interrupted command has left for this
// round are reused. Returns false, with nothing judged, if the unchanged program behaved
// differently from the survey, which may be one of another round.
bool run_round(const Subject& subject, const Round& round, const Survey& survey,
               std::vector<Mutant>& mutants, const std::function<void(int done, int of)>& done);

}  // namespace lockstep::exec
