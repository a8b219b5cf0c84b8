// A change of one instruction of a parsed function, and the functions that build valid PTX for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/mutation/operator.h"
#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// An instruction and its place.
struct Site {
  const ptx::Module& module;
  const ptx::Function& function;
  std::uint32_t index = 0;  // into function.body
  const std::vector<ptx::Register>* registers =
      nullptr;  // instead of the function's registers: includes those that an edit adds
  const ptx::Instruction& instruction() const { return function.body[index]; }
};

struct Edit {
  Operator op = Operator::kCount;
  std::string change;  // as the end of a sentence about the instruction: "rounds toward zero"
  std::vector<ptx::Instruction> instead;  // its replacement; empty: none
  std::vector<ptx::Register>
      registers;  // new ones: the first has the number function.registers.size()
  bool removes_sharing =
      false;  // of the variable that operand 1 names: apply() changes the whole function
};

// All edits of an instruction, always in the same order.
std::vector<Edit> edits_of(const Site& site);

// Applies the change. Labels keep referring to the same instructions.
void apply(ptx::Function& function, std::uint32_t index, Edit edit);

// ---- For code that builds edits -----------------------------------------------------------------

// The instruction with another opcode and other operands, with the same guard and line. nullopt if
// PTX, or the module's version and target, has no such form.
std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode,
                                            std::vector<ptx::Operand> operands);
std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode);

// Replaces a word of an opcode: "setp.lt.s32" with ".lt" replaced by ".le". nullopt if the opcode
// does not contain the word.
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

// is_integer(): whether operand n exists and is an integer constant. with_integer(): the
// instruction with another integer there.
bool is_integer(const ptx::Instruction& i, std::size_t n);
std::optional<ptx::Instruction> with_integer(const Site& site, std::size_t n, std::uint64_t bits);

// Several instructions that replace one, with their own registers.
class Sequence {
 public:
  Sequence(const Site& site, Operator op, std::string change);
  ptx::Operand fresh(std::string name, isa::Type type);
  void emit(const std::string& opcode, std::vector<ptx::Operand> operands);
  // Adds the edit, unless PTX lacks one of the instructions.
  void add_to(std::vector<Edit>& edits);

 private:
  const Site& site_;
  std::vector<ptx::Register> registers_;  // the function's, and behind them the new ones
  Edit edit_;
  bool whole_ = true;
};

}  // namespace lockstep::mutation
