// Enumerates the table of instruction forms: a PTX line for every concrete spelling, and modules
// that contain them.
//
// Used by tests: every form in the table is passed to ptxas, the parser and the decoder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/isa/forms.h"

namespace lockstep::isa {

// One complete instruction without guard, with its ';': one of the form's operand lists filled with
// registers that example_module() declares.
struct Example {
  Spelling spelling;
  const std::vector<OperandRule>* operands = nullptr;
  std::string text;  // "add.rn.f32 r0, r1, r2;"
};

// The register for element `n` of an operand of `type`, as examples name it and example_module()
// declares it: p, h, r, d or q of its width (16 bits at least) with that number.
std::string register_for(Type type, int n);
// The type of each of the two registers that form an operand of `type` in braces.
Type half_of(Type type);

// The target from which a row's forms exist: "sm_90a".
std::string target_of(const FormRow& row);

// The number of the first register of the operand at `position`. No two operands share a register;
// a destination may be a vector of 128.
int first_register(const std::vector<OperandRule>& rules, const Modifiers& modifiers,
                   std::size_t position);

// Every spelling with every operand list.
std::vector<Example> all_examples();

// All examples of rows with few examples. For other rows, a selection in which every two compatible
// words occur together, and every operand list occurs.
std::vector<Example> pairwise_examples();

// A module for `target` ("sm_90") with the examples in kernels of a few hundred, one example on a
// line. line_of[i]: the line of example i, from 1.
std::string example_module(std::span<const Example> examples, const std::string& version,
                           const std::string& target, std::vector<int>* line_of = nullptr);

}  // namespace lockstep::isa
