// Runs of the program: surveys, and the rounds that judge mutants.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "simulator/exec/child.h"
#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

// How to run the program.
struct Subject {
  std::vector<std::string> command;  // command[0] is a path
  Environment set;                   // contains the simulated runtime's library path
  std::string folder;                // for the files that a run writes
  int jobs = 2;
  // A mutant of a kernel runs only if one of its launches leaves other results than the unchanged
  // launch. If false, it runs from its first launch to the end.
  bool compare = true;
  // The number of processes that each survey a share of the program's parts.
  std::size_t survey_shares = 1;
};

// One pass over the remaining mutants.
struct Round {
  std::string name;                    // "few-cases"; part of file names
  std::vector<std::string> arguments;  // added to the program's own
  bool checks = false;                 // run with the simulated GPU's checks
};

// Set by the handler of SIGINT and SIGTERM: rounds then end, and the known results are reported.
extern std::atomic<bool> interrupted;

// Runs the unchanged program. False, with a message, if it fails or launches no kernel.
bool make_survey(const Subject& subject, const Round& round, Survey* survey, std::string* error);

// Judges those of `mutants` that survived or were not judged so far, if a run reaches them
// according to the survey. Calls `done(n, of)` now and then. Reuses the results of this round that
// an earlier, interrupted command left. Returns false, and judges nothing, if the unchanged program
// deviates from the survey; the survey may be another round's.
bool run_round(const Subject& subject, const Round& round, const Survey& survey,
               std::vector<Mutant>& mutants, const std::function<void(int done, int of)>& done);

}  // namespace lockstep::exec
