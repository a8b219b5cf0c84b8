// One changed instruction of a program's device code.
//
// Plain data: code that runs mutants does not depend on PTX.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/mutation/operator.h"

namespace lockstep::mutation {

// Identifies an edit of an instruction. Parsing the same texts yields the same places.
struct Place {
  std::uint32_t module = 0, function = 0, instruction = 0;  // indices
  std::uint32_t edit = 0;                                   // index into edits_of
};

struct Mutant {
  Place place;
  Operator op = Operator::kCount;
  std::string change;    // Edit::change
  std::string function;  // mangled
  std::string text;      // the instruction
  // The source line that was compiled into the instruction: the innermost one outside of CUDA's own
  // headers. Line 0 if the PTX has no line information.
  std::string file;
  int line = 0, column = 0;
};

}  // namespace lockstep::mutation
