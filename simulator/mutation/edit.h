// A change of one instruction of a parsed function, and helpers that make changes which are valid
// PTX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/mutation/operator.h"
#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// An instruction and its place in a function.
struct Site {
  const ptx::Module& module;
  const ptx::Function& function;
  std::uint32_t index = 0;  // into function.body
  const std::vector<ptx::Register>* registers =
      nullptr;  // replaces the function's registers: these and the ones that an edit adds
  const ptx::Instruction& instruction() const { return function.body[index]; }
};

struct Edit {
  Operator op = Operator::kCount;
  std::string change;  // the end of a sentence about the instruction: "rounds toward zero"
  std::vector<ptx::Instruction> instead;  // the replacement; empty if the instruction is removed
  std::vector<ptx::Register>
      registers;  // new registers; the first has number function.registers.size()
  bool removes_sharing =
      false;  // moves the variable named by operand 1; apply() then changes the whole function
};

// Every edit of an instruction, always in the same order.
std::vector<Edit> edits_of(const Site& site);

// Applies the edit. Labels still refer to the instructions that they named before.
void apply(ptx::Function& function, std::uint32_t index, Edit edit);

// ---- For those who make edits -------------------------------------------------------------------

// The instruction with another opcode and other operands, with the same guard and source line.
// nullopt if PTX has no such form, or the module's version and target do not support it.
std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode,
                                            std::vector<ptx::Operand> operands);
std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode);

// Replaces a word of an opcode: ".lt" in "setp.lt.s32" by ".le". nullopt if the word does not
// occur.
std::optional<std::string> replace_word(std::string_view opcode, std::string_view word,
                                        std::string_view by);
bool has_word(std::string_view opcode, std::string_view word);

ptx::Operand register_operand(std::uint32_t index);
ptx::Operand integer_operand(std::uint64_t bits);

// Adds an edit that replaces the instruction by `instead`, unless that is nullopt.
void add(std::vector<Edit>& to, Operator op, std::string change,
         std::optional<ptx::Instruction> instead);
// Adds an edit that removes the instruction.
void add_removal(std::vector<Edit>& to, Operator op, std::string change);

// Whether operand n exists and is an integer constant; the instruction with another integer as
// operand n.
bool is_integer(const ptx::Instruction& i, std::size_t n);
std::optional<ptx::Instruction> with_integer(const Site& site, std::size_t n, std::uint64_t bits);

// Replaces one instruction by several, which may use new registers.
class Sequence {
 public:
  Sequence(const Site& site, Operator op, std::string change);
  ptx::Operand fresh(std::string name, isa::Type type);
  void emit(const std::string& opcode, std::vector<ptx::Operand> operands);
  // Adds the edit, unless PTX lacks one of the instructions.
  void add_to(std::vector<Edit>& edits);

 private:
  const Site& site_;
  std::vector<ptx::Register> registers_;  // the function's registers, then the new ones
  Edit edit_;
  bool whole_ = true;
};

}  // namespace lockstep::mutation
