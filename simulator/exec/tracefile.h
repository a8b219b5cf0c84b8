// Coverage as files: lcov's tracefile, which genhtml and editors read, and a text for people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulator/exec/coverage_record.h"

namespace lockstep::exec {

// The files that a report covers, and their names in it.
struct CoverageFiles {
  std::vector<std::string> only;  // prefixes of their names in the PTX; empty: all files
  bool toolkit = false;           // headers of the CUDA toolkit too
  std::string root;               // the base of relative names; empty: the working folder
};

// Removes the files that are not wanted. A file found under its name is then named by its full
// path.
SourceCoverage select(SourceCoverage coverage, const CoverageFiles& wanted);

// The format of geninfo(1), with counts of threads:
//   FN, FNDA   kernels and called device functions by demangled names, with ";" for ",", since lcov
//   1 ends a name at a comma
//   DA         a line: the threads that executed it
//   BRDA       a way of a branch: 0 a true guard, 1 a false one, or the target of a branch table.
//   The block numbers the branches of a line: one for each instruction of each kernel and each
//   inlined place. "-": no thread reached it
// Comments (#) before each file's records name these blocks. They also name the lines without
// divergence, and the lines that only full warps executed.
std::string tracefile(const SourceCoverage& coverage);

// A table with one line a file.
std::string coverage_table(const SourceCoverage& coverage);
// By file: lines that no thread executed, branches with ways not taken, lines without divergence,
// lines that only full warps executed.
std::string coverage_text(const SourceCoverage& coverage);

}  // namespace lockstep::exec
