// A function of a program under construction: the slots of its operands, and the operations emitted
// so far.
//
// Each lower_* file uses it to compile the instructions of some categories.
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
  // Refuses the whole program, because nothing in it defines a name.
  [[noreturn]] void refuse_undefined(const Instruction& i, const std::string& why) const;

  // The operations emitted from here on belong to `i`.
  void begin(const Instruction& i);
  // Emits an operation with the instruction's guard. `uses`: sources and destinations in any order;
  // slots that are not registers are ignored.
  Op& emit(const Instruction& i, const Op& operation, ValidityTransfer transfer,
           std::vector<OperandUse> uses);
  // branch_to(): the next emitted operation branches to instruction `target` of the function's
  // body. table_entry_to(): entry `entry` of `table` does.
  void branch_to(std::uint32_t target);
  void table_entry_to(std::uint32_t table, std::uint32_t entry, std::uint32_t target);
  // The pc of the next operation to be emitted.
  std::uint32_t next_pc() const { return static_cast<std::uint32_t>(program_.ops.size()); }
  // Call after the last instruction: resolves all branch targets. pc_of: by instruction, with one
  // more element at the end.
  void finish(const std::vector<std::uint32_t>& pc_of);

  // Operands.
  int register_bytes(const Operand& o) const;  // 0: predicate
  // The width of a vector's registers, which are all equal; `width` if it has none.
  std::uint8_t register_bytes_of(const Instruction& i, const Operand& vector,
                                 std::uint8_t width) const;
  Slot register_slot(const Operand& o) const { return slots_[o.index]; }
  Slot destination(const Instruction& i, const Operand& o,
                   int bytes);  // a scratch slot for the sink
  Slot optional_destination(const Operand& o) const;
  // The number of times the function mentions a register.
  std::uint32_t mentions(std::uint32_t reg);
  // The slot of a source of `bytes` bytes (0: predicate). Special registers and addresses relative
  // to the function are first computed into a scratch slot.
  Slot source(const Instruction& i, const Operand& o, int bytes);
  bool predicate_source(const Instruction& i, const Operand& o, Slot& slot);  // true when negated
  Slot scratch(int bytes);  // for this instruction only; 0: a predicate
  // The operation that converts an address of `from_bytes` bytes to or from a generic one. The
  // caller sets its destination.
  using Conversion = program::AddressConversion;
  Op conversion(Conversion which, Slot from, int from_bytes);
  // Sets src[0], immediate and flags of `op` from an address operand. A kernel's parameters and
  // constants are accessed by their generic addresses.
  void address(const Instruction& i, const Operand& o, isa::Space space, Op& op);
  // An address operand other than the first.
  program::AddressOperand further_address(const Instruction& i, const Operand& o, isa::Space space);
  // The symbol of a name in this function; nullptr if nothing in the program defines it.
  const Symbol* symbol(const std::string& name) const {
    return linker_.find(ref_.module_index, &function_, name);
  }
  // A .param variable of a device function or of its calls; nullptr if there is none of that name.
  const program::Storage* storage(const std::string& name) const { return frame_.storage_of(name); }
  // Index of a kernel's parameter.
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
  std::vector<std::uint32_t> mentions_;  // by register; empty until first used
  struct Scratch {
    std::vector<Slot> slots;
    std::size_t used = 0;  // by the instruction that is being compiled
  };
  std::map<int, Scratch> scratch_;  // by bytes of a value
  std::uint32_t scratch_end_ = 0;
  struct Fixup {
    std::uint32_t pc;
    std::uint32_t table;
    std::uint32_t entry;
    std::uint32_t instruction;
  };
  std::vector<Fixup> fixups_;  // table kNoTable: Op::target
  static constexpr std::uint32_t kNoTable = ~0u;
};

}  // namespace lockstep::compile
