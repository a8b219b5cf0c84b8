// Decodes one function into a program.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/decode/constants.h"
#include "simulator/decode/linker.h"
#include "simulator/engine/alu.h"
#include "simulator/engine/program.h"

namespace lockstep::decode {

// Why a function was refused; the message names opcode, line and function.
struct Refusal {
  std::string message;
  int ptx_line = 0;  // 0: no single one
};

// PTX ISA, local state space: what a thread has of it, on every device, with room to round up.
inline constexpr std::uint32_t kLocalBytes = 512 * 1024;

// The scope of a strong access or a fence, as check::Reach.
std::uint8_t reach(const ptx::Modifiers& m);

class FunctionDecoder {
 public:
  FunctionDecoder(const Linker& linker, std::uint32_t index, ConstantBank& constants, engine::Program& program, engine::RegisterPlaces places);

  // Appends the function's operations to the program. Throws Refusal.
  void decode();

 private:
  using Operand = ptx::Operand;
  using Instruction = ptx::Instruction;

  [[noreturn]] void refuse(const Instruction& i, const std::string& why) const;

  void lay_out_storage();
  void check_bank() const;  // refuses more registers and parameters than there is room for
  void lay_out_local();
  void assign_registers();
  void decode(const Instruction& i);
  void note_guesses();  // Program::guesses

  // Groups of instructions; true when the instruction belongs to the group and has been emitted.
  bool decode_memory(const Instruction& i);   // decode_memory.cc
  bool decode_control(const Instruction& i);  // decode_control.cc
  bool decode_exchange(const Instruction& i);
  bool decode_async(const Instruction& i);    // decode_async.cc
  bool decode_image(const Instruction& i);    // decode_image.cc
  void decode_texture(const Instruction& i);
  void decode_surface(const Instruction& i);
  // The object's handle and the coordinates of [image, {..}].
  void decode_coordinates(const Instruction& i, const Operand& image, engine::Op& op, std::vector<engine::OperandUse>& uses);
  void decode_mbarrier(const Instruction& i);
  void decode_copy(const Instruction& i);
  void decode_bulk_copy(const Instruction& i);
  void decode_parameter_access(const Instruction& i, bool load);
  void decode_atomic(const Instruction& i, bool has_result);
  void decode_call(const Instruction& i);
  void decode_address(const Instruction& i);  // cvta, isspacep
  void decode_cluster_address(const Instruction& i);
  bool decode_move(const Instruction& i);
  void decode_compute(const Instruction& i);

  // Operands.
  int register_bytes(const Operand& o) const;       // 0: predicate
  // Of the registers of a vector, which all have one width; `width` where there are none.
  std::uint8_t register_bytes_of(const Instruction& i, const Operand& vector, std::uint8_t width) const;
  engine::Slot register_slot(const Operand& o) const { return slots_[o.index]; }
  engine::Slot destination(const Instruction& i, const Operand& o, int bytes);  // a scratch place for the sink
  engine::Slot optional_destination(const Operand& o) const;
  // How often the function names a register.
  std::uint32_t mentions(std::uint32_t reg);
  // A source of `bytes` bytes (0: predicate); special registers and function-relative addresses are computed into a scratch place first.
  engine::Slot source(const Instruction& i, const Operand& o, int bytes);
  bool predicate_source(const Instruction& i, const Operand& o, engine::Slot& slot);  // true when negated
  engine::Slot scratch(int bytes);  // of this instruction alone; 0: a predicate
  // Address operand into src[0], immediate and flags of `op`.
  void address(const Instruction& i, const Operand& o, ptx::Space space, engine::Op& op);
  // An address operand beside the first.
  engine::AddressOperand further_address(const Instruction& i, const Operand& o, ptx::Space space);
  std::optional<std::uint64_t> symbol_address(const Instruction& i, const std::string& name) const;
  const engine::Storage* storage(const std::string& name) const;

  // Emits an operation with the instruction's guard.
  engine::Op& emit(const Instruction& i, const engine::Op& operation, engine::Flow flow, std::vector<engine::OperandUse> uses);

  const Linker& linker_;
  const FunctionRef& ref_;
  const ptx::Function& function_;
  std::uint32_t index_;
  ConstantBank& constants_;
  engine::Program& program_;
  engine::Function& out_;
  const engine::RegisterPlaces places_;
  std::vector<engine::Slot> slots_;                  // by register
  std::vector<std::uint32_t> mentions_;              // by register; empty until asked for
  std::unordered_map<std::string, engine::Storage> storage_;   // .param variables of a function and of its calls
  std::unordered_map<std::string, std::uint32_t> local_;       // .local variables: offset in the frame
  std::unordered_map<std::string, std::uint32_t> kernel_parameters_;  // index
  std::uint32_t bank_ = 0;
  struct Scratch {
    std::vector<engine::Slot> slots;
    std::size_t used = 0;  // by the instruction that is being decoded
  };
  std::map<int, Scratch> scratch_;                   // by bytes of a value
  std::uint32_t scratch_end_ = 0;
  std::vector<std::uint32_t> pc_of_;                 // by instruction, one more than there are
  struct Fixup { std::uint32_t pc; std::uint32_t table; std::uint32_t entry; std::uint32_t instruction; };
  std::vector<Fixup> fixups_;                        // table ~0: Op::target
};

// Bytes that operand `n` of a computing instruction has by the manual (0: predicate); for immediates and widths.
int operand_bytes(const ptx::Instruction& i, std::size_t n);

// Places registers in the bank; with RegisterPlaces::kShared those that are never live together share room. Returns the slot of every register, the bytes
// used, the most 32-bit registers live at once, and which registers some path reads before it writes them.
struct Allocation {
  std::vector<engine::Slot> slots;
  std::uint32_t bytes = 0;
  int live = 0;
  std::vector<std::uint32_t> undefined;
};
Allocation allocate_registers(const ptx::Function& f, engine::RegisterPlaces places);

}  // namespace lockstep::decode
