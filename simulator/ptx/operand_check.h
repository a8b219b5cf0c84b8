// Holds the operands of an instruction against the rules of a form.
#pragma once

#include <string>
#include <vector>

#include "simulator/isa/forms.h"
#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// Why the operands do not fit, empty when they do. `progress` counts the operands that fitted, so
// that the most specific of several reasons can be chosen.
struct Misfit {
  std::string reason;
  std::size_t progress = 0;
};

// Checks kinds, register types and counts against one operand list of `match`.
Misfit check_operands(const isa::Match& match, const std::vector<isa::OperandRule>& rules,
                      const std::vector<Operand>& operands, const std::vector<Register>& registers);

// After a fit: immediates become the bits that the operand's type reads, labels and lists take
// their kind.
void settle_operands(const isa::Match& match, const std::vector<isa::OperandRule>& rules,
                     std::vector<Operand>& operands);

}  // namespace lockstep::ptx
