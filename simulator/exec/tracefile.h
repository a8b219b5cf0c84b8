// Coverage as files: lcov's tracefile, which genhtml and editors read, and a text for people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulator/exec/coverage_record.h"

namespace lockstep::exec {

// The files that a report covers, and how they are named.
struct CoverageFiles {
  std::vector<std::string> only;  // prefixes of their names in the PTX; empty: all
  bool toolkit = false;           // include headers of the CUDA toolkit
  std::string root;               // base of relative names; empty: the working folder
};

// Removes files that were not requested. Files that exist then get their full path as name.
SourceCoverage select(SourceCoverage coverage, const CoverageFiles& wanted);

// The format of geninfo(1), with counts of threads:
//   FN, FNDA   kernels, and device functions that are called, by their demangled names; ", " is ";
//              " there, since lcov 1 ends a name at a comma
//   DA         a line: threads that executed it
//   BRDA       a way of a branch: 0 a true guard and 1 a false one, or the target of a branch
//              table. The branch's block is its number among those of its
//              line: one for each instruction of each kernel and each inlined place. "-": nobody
//                came to it
// Before each file's records, comments (#) name those blocks. They also name the lines where no
// warp ever parted, and those that only full warps executed.
std::string tracefile(const SourceCoverage& coverage);

// A table with one line for each file.
std::string coverage_table(const SourceCoverage& coverage);
// By file: lines that were never executed, branches that took only some ways, lines where no warp
// diverged, and lines that only full warps executed.
std::string coverage_text(const SourceCoverage& coverage);

}  // namespace lockstep::exec
