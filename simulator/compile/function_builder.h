// A function under construction: the slots of its operands, and the operations emitted so far.
//
// Used by the lower_* files, each of which lowers the instructions of some categories.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/compile/compile_error.h"
#include "simulator/compile/constant_file.h"
#include "simulator/compile/frame.h"
#include "simulator/compile/linker.h"
#include "simulator/compile/registers.h"
#include "simulator/program/handlers.h"
#include "simulator/program/memory_access.h"
#include "simulator/program/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// Short names for all lower_* files.
using program::Action;
using program::kNoSlot;
using program::Op;
using program::OperandUse;
using program::OpKind;
using program::Slot;
using program::ValidityTransfer;
using ptx::Instruction;
using ptx::Operand;
using Role = OperandUse::Role;

class FunctionBuilder {
 public:
  FunctionBuilder(const Linker& linker, std::uint32_t index, const program::Handlers& handlers,
                  ConstantFile& constants, program::Program& program,
                  program::RegisterPlaces places);

  const ptx::Function& function() const { return function_; }
  const program::Handlers& handlers() const { return handlers_; }
  void set_action(program::Op& op, program::Action action) const {
    op.action = action;
    op.run = handlers_.of(action);
  }
  program::Program& program() { return program_; }
  program::Function& out() { return out_; }

  [[noreturn]] void refuse(const Instruction& i, const std::string& why) const;
  // For a name that the program does not define: refuses the whole program.
  [[noreturn]] void refuse_undefined(const Instruction& i, const std::string& why) const;

  // Starts instruction `i`: the following operations belong to it.
  void begin(const Instruction& i);
  // Emits an operation with the instruction's guard. `uses`: sources and destinations, in any
  // order; slots that are not registers are ignored.
  Op& emit(const Instruction& i, const Op& operation, ValidityTransfer transfer,
           std::vector<OperandUse> uses);
  // Sets the target of the branch that is emitted next, or of entry `entry` of `table`, to
  // instruction `target` of the function's body.
  void branch_to(std::uint32_t target);
  void table_entry_to(std::uint32_t table, std::uint32_t entry, std::uint32_t target);
  // The program counter of the next operation.
  std::uint32_t next_pc() const { return static_cast<std::uint32_t>(program_.ops.size()); }
  // Sets the targets of all branches. Call after the last instruction. pc_of: by instruction, with
  // one extra entry for the end.
  void finish(const std::vector<std::uint32_t>& pc_of);

  // Operands.
  int register_bytes(const Operand& o) const;  // 0: predicate
  // The width of the registers of a vector, which is the same for all; `width` if it has none.
  std::uint8_t register_bytes_of(const Instruction& i, const Operand& vector,
                                 std::uint8_t width) const;
  Slot register_slot(const Operand& o) const { return slots_[o.index]; }
  Slot destination(const Instruction& i, const Operand& o,
                   int bytes);  // a scratch slot for the sink
  Slot optional_destination(const Operand& o) const;
  // The number of times that the function names a register.
  std::uint32_t mentions(std::uint32_t reg);
  // The slot of a source with `bytes` bytes (0: predicate). Special registers and function-relative
  // addresses are first computed into a scratch slot.
  Slot source(const Instruction& i, const Operand& o, int bytes);
  bool predicate_source(const Instruction& i, const Operand& o, Slot& slot);  // true when negated
  Slot scratch(int bytes);  // used by this instruction only; 0: a predicate
  // The operation that converts an address of `from_bytes` bytes to or from a generic one. The
  // caller must set its destination.
  using Conversion = program::AddressConversion;
  Op conversion(Conversion which, Slot from, int from_bytes);
  // Puts an address operand into src[0], immediate and flags of `op`. A kernel's parameters and
  // constants are accessed by their generic addresses.
  void address(const Instruction& i, const Operand& o, isa::Space space, Op& op);
  // A further address operand.
  program::AddressOperand further_address(const Instruction& i, const Operand& o, isa::Space space);
  // The symbol that a name refers to in this function; nullptr if the program does not define it.
  const Symbol* symbol(const std::string& name) const {
    return linker_.find(ref_.module_index, &function_, name);
  }
  // A .param variable of a device function or of its calls; nullptr if there is none with this
  // name.
  const program::Storage* storage(const std::string& name) const { return frame_.storage_of(name); }
  // The index of a kernel's parameter.
  std::optional<std::uint32_t> kernel_parameter(const std::string& name) const {
    return frame_.kernel_parameter(name);
  }

 private:
  enum class Address { kGeneric, kOfItsSpace };
  compile::CompileError refusal(const Instruction& i, const std::string& why) const;
  std::optional<std::uint64_t> symbol_address(const Instruction& i, const std::string& name,
                                              Address kind) const;
  Slot emit_conversion(const Instruction& i, Slot from, int from_bytes, Conversion which);
  Slot emit_address(const Instruction& i, Action action, int bytes, std::int64_t immediate);

  const Linker& linker_;
  const FunctionRef& ref_;
  const ptx::Function& function_;
  const std::uint32_t index_;
  const program::Handlers& handlers_;
  ConstantFile& constants_;
  program::Program& program_;
  program::Function& out_;
  Frame frame_;
  std::vector<Slot> slots_;              // by register
  std::vector<std::uint32_t> mentions_;  // by register; empty until first requested
  struct Scratch {
    std::vector<Slot> slots;
    std::size_t used = 0;  // in the instruction that is being lowered
  };
  std::map<int, Scratch> scratch_;  // by the size of a value in bytes
  std::uint32_t scratch_end_ = 0;
  struct Fixup {
    std::uint32_t pc;
    std::uint32_t table;
    std::uint32_t entry;
    std::uint32_t instruction;
  };
  std::vector<Fixup> fixups_;  // table kNoTable: a branch's own target
  static constexpr std::uint32_t kNoTable = ~0u;
};

}  // namespace lockstep::compile
