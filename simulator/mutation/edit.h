// A change of one instruction of a parsed function, and the means to make one that is PTX again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/mutation/operator.h"
#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// An instruction and where it stands.
struct Site {
  const ptx::Module& module;
  const ptx::Function& function;
  std::uint32_t index = 0;  // into function.body
  const std::vector<ptx::Register>* registers =
      nullptr;  // in place of the function's: with those that an edit adds
  const ptx::Instruction& instruction() const { return function.body[index]; }
};

struct Edit {
  Operator op = Operator::kCount;
  std::string
      change;  // in words, as the end of a sentence about the instruction: "rounds toward zero"
  std::vector<ptx::Instruction> instead;  // what takes its place; empty: nothing
  std::vector<ptx::Register>
      registers;  // new ones: the first has the number function.registers.size()
  bool removes_sharing =
      false;  // of the variable that operand 1 names: apply() changes the whole function
};

// Every edit of an instruction, always in the same order.
std::vector<Edit> edits_of(const Site& site);

// Makes the change. Labels go on naming the instructions that they named.
void apply(ptx::Function& function, std::uint32_t index, Edit edit);

// ---- For those who make edits -------------------------------------------------------------------

// The instruction with another opcode, and operands, under the same guard and from the same line;
// nullopt when PTX has no such form, or the module's version and target have not.
std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode,
                                            std::vector<ptx::Operand> operands);
std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode);

// Opcodes as words: "setp.lt.s32" with ".lt" replaced by ".le". nullopt when the word is not in it.
std::optional<std::string> replace_word(std::string_view opcode, std::string_view word,
                                        std::string_view by);
bool has_word(std::string_view opcode, std::string_view word);

ptx::Operand register_operand(std::uint32_t index);
ptx::Operand integer_operand(std::uint64_t bits);

// Adds an edit that replaces the instruction by one, unless there is none.
void add(std::vector<Edit>& to, Operator op, std::string change,
         std::optional<ptx::Instruction> instead);
// Adds one that leaves the instruction out.
void add_removal(std::vector<Edit>& to, Operator op, std::string change);

// Whether there is an operand n, an integer constant; and the instruction with another integer
// there.
bool is_integer(const ptx::Instruction& i, std::size_t n);
std::optional<ptx::Instruction> with_integer(const Site& site, std::size_t n, std::uint64_t bits);

// Several instructions in the place of one, with registers of their own.
class Sequence {
 public:
  Sequence(const Site& site, Operator op, std::string change);
  ptx::Operand fresh(std::string name, isa::Type type);
  void emit(const std::string& opcode, std::vector<ptx::Operand> operands);
  // Unless PTX has not one of them.
  void add_to(std::vector<Edit>& edits);

 private:
  const Site& site_;
  std::vector<ptx::Register> registers_;  // the function's, and behind them the new ones
  Edit edit_;
  bool whole_ = true;
};

}  // namespace lockstep::mutation
