// Shared parts of the generator: the choices, the program so far, and the present place in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/choices.h"
#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// The threads that execute a statement.
enum class Level : std::uint8_t {
  kBlock,    // all threads of the block
  kWarp,     // all lanes of the executing warps
  kTracked,  // lanes in a known mask
  kLanes,    // any lanes
};

struct Context {
  Level level = Level::kBlock;
  int depth = 0;
  bool in_function = false;
  bool board = false, warp_board = false;  // the board may be read
};

// By row: the examples that a kind of program may contain.
struct Menu {
  std::vector<std::vector<int>> examples;                                     // by row
  std::vector<int> compute, carry, warp, load, store, atomic, barrier, text;  // rows
  std::vector<std::vector<int>> compute_by_opcode;
  static const Menu& of(int target, bool silicon, bool referenced);
};

class Writer {
 public:
  Writer(Choices& choices, Program& program, const Menu& menu, bool silicon)
      : choose_(choices), program_(program), menu_(menu), silicon_(silicon) {}

  // Generates statements for one row. Returns false if it cannot be used here.
  bool write(int row, const Context& at, std::vector<Statement>& to);
  Statement random_unit(const Context& at);

  // Helpers of all parts.
  Choices& choose() { return choose_; }
  const Program& program() const { return program_; }
  Register source(isa::Type type);
  Register destination(isa::Type type);
  Register pool(Class c) {
    return {c, static_cast<std::uint8_t>(
                   choose_.below(static_cast<std::size_t>(kPool[static_cast<int>(c)])))};
  }
  const Menu& menu() const { return menu_; }

 private:
  // units.cc
  Statement compute(int example);
  Statement carry(int example);
  bool warp(int example, const Context& at, Statement& s);
  Statement barrier(int example);
  Operand operand(const isa::OperandRule& rule, const isa::Modifiers& m,
                  std::vector<Register>& written);
  void prepare(int example, Instruction& i, std::vector<Instruction>& before);
  // memory.cc
  Statement load(int example, const Context& at);
  Statement store(int example);
  Statement atomic(int example);
  bool sum(int example, Statement& s);
  Address own(Region region, std::uint32_t size);
  // text.cc
  bool text(int example, const Context& at, Statement& s);

  Choices& choose_;
  Program& program_;
  const Menu& menu_;
  bool silicon_;
  bool constants_ = true;  // operands may be
};

// instructions.cc: by the opcode as spelled; operands in order.
Operand of(Register r);
Operand immediate(std::uint64_t bits, std::string text = {});
Instruction instruction(std::string_view opcode, std::vector<Operand> operands);
Class class_of(isa::Type type);
bool is_float(isa::Type type);
// Makes all NaNs in the register equal, as far as `type` has any: the NaN that an operation returns
// is not defined, and ptxas may fold it.
void make_nan_canonical(Register r, isa::Type type, std::vector<Instruction>& to);

}  // namespace lockstep::fuzz::differential
