// What the simulated GPU executes of the table of instruction forms: found out by decoding every
// row's examples, not by declaration.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "simulator/isa/form_examples.h"
#include "simulator/isa/forms.h"

namespace lockstep::coverage {

// A row of the table with what became of its examples.
struct RowCoverage {
  const isa::FormRow* row = nullptr;
  std::size_t spellings = 0;  // different opcodes that the row stands for
  std::size_t examples =
      0;  // of these with every operand list, as far as they were tried: form_examples.h
  std::size_t executed = 0;   // examples that the decoder gave a handler
  std::string first_refusal;  // its message for the first of the others
};

// In the order of the table. Measured once, however often it is asked for.
const std::vector<RowCoverage>& measure();
// The same of other examples, in the order of the table.
std::vector<RowCoverage> measure(std::span<const isa::Example> examples);

}  // namespace lockstep::coverage
