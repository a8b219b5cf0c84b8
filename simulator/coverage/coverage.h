// The part of the table of instruction forms that the simulated GPU executes. Measured by compiling
// examples of every row.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "simulator/isa/form_examples.h"
#include "simulator/isa/forms.h"

namespace lockstep::coverage {

// A row of the table, with the results of its examples.
struct RowCoverage {
  const isa::FormRow* row = nullptr;
  std::size_t spellings = 0;  // different opcodes of the row
  std::size_t examples = 0;   // these with every operand list, as far as tried: form_examples.h
  std::size_t executed = 0;   // examples for which the compiler found a handler
  std::string first_refusal;  // the error message of the first other example
};

// In the order of the table. Measured once and cached.
const std::vector<RowCoverage>& measure();
// The same for the given examples.
std::vector<RowCoverage> measure(std::span<const isa::Example> examples);

}  // namespace lockstep::coverage
