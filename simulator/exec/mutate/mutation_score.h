// Counts of mutants, and the report for people.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "simulator/exec/mutate/mutant.h"

namespace lockstep::exec {

struct Score {
  std::size_t mutants = 0, invalid = 0, not_covered = 0, not_judged = 0;
  std::size_t law = 0, time = 0, crash = 0, checks = 0;  // killed by each cause
  std::size_t survived = 0,
              equivalent = 0;  // survivors that the list declares equivalent
  std::size_t killed() const { return law + time + crash + checks; }
  std::size_t counted() const { return killed() + survived - equivalent; }
  // The percentage killed of the mutants that were executed, run to the end and are not equivalent.
  // 100 if there are none.
  double percent() const { return share(counted()); }
  // The same, with mutants that were executed but not judged counted as survivors: a lower bound.
  double percent_for_sure() const { return share(counted() + not_judged); }

 private:
  double share(std::size_t of) const {
    return of == 0 ? 100 : 100.0 * static_cast<double>(killed()) / static_cast<double>(of);
  }
};
Score score_of(const std::vector<Mutant>& mutants);
std::map<std::string, Score> scores_by_operator(const std::vector<Mutant>& mutants);

// The lines of source files. Searches the folders for files that do not exist under their own
// names. Empty if a file cannot be read.
class Sources {
 public:
  explicit Sources(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  const std::vector<std::string>& lines(const std::string& file);
  // The line without blanks at both ends; empty if it does not exist.
  std::string line(const std::string& file, int number);

 private:
  std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> read_;
};

// A table by operator, then the survivors with their source lines.
std::string text_report(const std::vector<Mutant>& mutants, Sources& sources);

// Reads the list of mutants that no input can distinguish from the original, each with a reason. A
// line is
//   FILE: STATEMENT ~ OPERATOR ~ CHANGE ~ REASON
// FILE is a suffix of a path. STATEMENT is the source text of the mutant's line: one or more whole
// lines, in any layout (statement.h). `*` stands for any file, statement, operator or change.
// CHANGE may begin with the instruction or call, without register numbers: "add.s32 %r, %r, 0x1:
// the constant is zero" or "add.s32 %r, %r, 0x1: *". Lines that begin with # are comments. Returns
// an error message about the first line that cannot be read, or an empty string.
std::string read_equivalents(const std::string& path, std::vector<Mutant>& mutants,
                             Sources& sources);

}  // namespace lockstep::exec
