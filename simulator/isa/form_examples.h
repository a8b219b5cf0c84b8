// Generates examples of the table of instruction forms: a PTX line for every concrete spelling, and
// modules that contain them.
//
// For tests, which pass the table's legal instructions to ptxas, the parser and the compiler.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/isa/forms.h"

namespace lockstep::isa {

// One complete instruction with its ';' and without a guard: one of the form's operand lists,
// filled with registers that example_module() declares.
struct Example {
  Spelling spelling;
  const std::vector<OperandRule>* operands = nullptr;
  std::string text;  // "add.rn.f32 r0, r1, r2;"
};

// The register for element `n` of an operand of `type`, with the name that example_module()
// declares: p, h, r, d or q by its width (16 bits at least), and a number.
std::string register_for(Type type, int n);
// The type of each of the two registers in braces that form an operand of `type`.
Type half_of(Type type);

// The oldest target with a row's forms: "sm_90a".
std::string target_of(const FormRow& row);

// The number of the first register of the operand at `position`. No two operands share a register,
// and a destination may be a vector of 128.
int first_register(const std::vector<OperandRule>& rules, const Modifiers& modifiers,
                   std::size_t position);

// Every spelling with every operand list.
std::vector<Example> all_examples();

// All examples of rows with few examples. For the other rows, enough examples that every valid pair
// of words and every operand list occurs at least once.
std::vector<Example> pairwise_examples();

// A module for `target` ("sm_90") with a few hundred examples in each kernel. Each example has its
// own line; line_of[i] is the line of the i-th, counted from 1.
std::string example_module(std::span<const Example> examples, const std::string& version,
                           const std::string& target, std::vector<int>* line_of = nullptr);

}  // namespace lockstep::isa
