// Checks the operands of an instruction against the rules of a form.
#pragma once

#include <string>
#include <vector>

#include "simulator/isa/forms.h"
#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// The reason why operands do not match; empty if they do. `progress` counts the matching operands,
// which identifies the most specific of several reasons.
struct Misfit {
  std::string reason;
  std::size_t progress = 0;
};

// Checks operand kinds, register types and counts against one operand list of `match`.
Misfit check_operands(const isa::Match& match, const std::vector<isa::OperandRule>& rules,
                      const std::vector<Operand>& operands, const std::vector<Register>& registers);

// Call after a successful check. Converts immediates to the bits of the operand's type, and sets
// the kinds of labels and lists.
void settle_operands(const isa::Match& match, const std::vector<isa::OperandRule>& rules,
                     std::vector<Operand>& operands);

}  // namespace lockstep::ptx
