#include "simulator/compile/function_builder.h"

#include <algorithm>
#include <functional>

#include "simulator/compile/compile_error.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Space;

namespace {

// Wraps like addresses.
std::int64_t sum(std::uint32_t base, std::int64_t offset) {
  return static_cast<std::int64_t>(base + static_cast<std::uint64_t>(offset));
}

}  // namespace

FunctionBuilder::FunctionBuilder(const Linker& linker, std::uint32_t index,
                                 const program::Handlers& handlers, ConstantFile& constants,
                                 program::Program& program, program::RegisterPlaces places)
    : linker_(linker),
      ref_(linker.functions()[index]),
      function_(*ref_.function),
      index_(index),
      handlers_(handlers),
      constants_(constants),
      program_(program),
      out_(program.functions[index]),
      frame_(function_, out_) {
  RegisterAllocation a = allocate_registers(function_, places);
  slots_ = std::move(a.slots);
  for (Slot& s : slots_) {
    if (s != kNoSlot) s += frame_.file_bytes();
  }
  for (const std::uint32_t v : a.undefined) out_.undefined.push_back(slots_[v]);
  scratch_end_ = frame_.file_bytes() +
                 std::min<std::uint32_t>((a.bytes + 63) & ~63u,
                                         kMaxFileBytes + 64);  // so that the sum does not wrap
  check_file_bytes(scratch_end_, out_);
  out_.registers = static_cast<int>(function_.max_registers == 0
                                        ? a.live
                                        : std::min<std::uint32_t>(a.live, function_.max_registers));
}

CompileError FunctionBuilder::refusal(const Instruction& i, const std::string& why) const {
  return {"PTX line " + std::to_string(i.ptx_line) + ", " +
              (function_.is_kernel ? "kernel " : "function ") + out_.demangled + ": '" + i.text +
              "' " + why,
          i.ptx_line};
}

void FunctionBuilder::refuse(const Instruction& i, const std::string& why) const {
  throw refusal(i, why);
}

void FunctionBuilder::refuse_undefined(const Instruction& i, const std::string& why) const {
  CompileError error = refusal(i, why);
  error.whole_program = true;
  throw error;
}

void FunctionBuilder::begin(const Instruction& i) {
  for (auto& [bytes, places] : scratch_) places.used = 0;
  const bool of_body = std::less_equal<>()(function_.body.data(), &i) &&
                       std::less<>()(&i, function_.body.data() + function_.body.size());
  const auto instruction = static_cast<std::uint32_t>(
      of_body ? &i - function_.body.data() : static_cast<std::ptrdiff_t>(function_.body.size()));
  program_.origins.push_back(
      {i.text, i.source, ref_.module_index, i.ptx_line, index_, instruction, i.row});
}

Op& FunctionBuilder::emit(const Instruction& i, const Op& operation, ValidityTransfer transfer,
                          std::vector<OperandUse> uses) {
  Op op = operation;
  op.origin = static_cast<std::uint32_t>(program_.origins.size() - 1);
  if (i.guard.present) {
    op.guard = slots_[i.guard.index];
    op.guard_negated = i.guard.negated;
  }
  program_.ops.push_back(op);
  program_.transfers.push_back(transfer);
  program_.meanings.emplace_back();
  program_.use_begin.push_back(static_cast<std::uint32_t>(program_.uses.size()));
  for (const OperandUse& u : uses) {
    if (u.slot != kNoSlot && !program::is_constant(u.slot)) program_.uses.push_back(u);
  }
  return program_.ops.back();
}

void FunctionBuilder::branch_to(std::uint32_t target) {
  fixups_.push_back({next_pc(), kNoTable, 0, target});
}

void FunctionBuilder::table_entry_to(std::uint32_t table, std::uint32_t entry,
                                     std::uint32_t target) {
  fixups_.push_back({0, table, entry, target});
}

void FunctionBuilder::finish(const std::vector<std::uint32_t>& pc_of) {
  for (const Fixup& f : fixups_) {
    const std::uint32_t pc = pc_of[f.instruction];
    if (f.table == kNoTable) {
      program_.ops[f.pc].as<program::BranchFields>().set_target(pc);
    } else {
      program_.tables[f.table][f.entry] = pc;
    }
  }
  out_.end = next_pc();
  // Handlers may read vectors past a register's end, by up to a whole register.
  out_.file_bytes = ((scratch_end_ + 63) & ~63u) + 64;
}

Slot FunctionBuilder::scratch(int bytes) {
  // Lanes may stop between two operations of an instruction, with operands in scratch slots, while
  // other lanes execute other instructions. As long as a slot always holds values of one width,
  // each lane uses only its own column.
  Scratch& places = scratch_[bytes];
  if (places.used == places.slots.size()) {
    places.slots.push_back(scratch_end_);
    scratch_end_ +=
        std::max<std::uint32_t>(64, static_cast<std::uint32_t>(bytes * program::kWarpSize));
  }
  return places.slots[places.used++];
}

int FunctionBuilder::register_bytes(const Operand& o) const {
  const isa::Type t = function_.registers[o.index].type;
  return t == isa::Type::kPred ? 0 : isa::size_of(t);
}

std::uint8_t FunctionBuilder::register_bytes_of(const Instruction& i, const Operand& vector,
                                                std::uint8_t width) const {
  std::uint8_t bytes = 0;
  for (const Operand& e : vector.elements) {
    if (e.kind != Operand::Kind::kRegister) continue;
    if (bytes != 0 && register_bytes(e) != bytes) refuse(i, "mixes registers of several widths");
    bytes = static_cast<std::uint8_t>(register_bytes(e));
  }
  return bytes != 0 ? bytes : width;
}

Slot FunctionBuilder::optional_destination(const Operand& o) const {
  return o.kind == Operand::Kind::kRegister ? register_slot(o) : kNoSlot;
}

std::uint32_t FunctionBuilder::mentions(std::uint32_t reg) {
  if (mentions_.empty()) {
    mentions_.resize(function_.registers.size());
    const auto count = [&](const auto& self, const Operand& o) -> void {
      const bool names = o.kind == Operand::Kind::kRegister ||
                         o.kind == Operand::Kind::kNegatedPredicate ||
                         (o.kind == Operand::Kind::kAddress && o.has_register);
      if (names) ++mentions_[o.index];
      for (const Operand& e : o.elements) self(self, e);
    };
    for (const Instruction& i : function_.body) {
      if (i.guard.present) ++mentions_[i.guard.index];
      for (const Operand& o : i.operands) count(count, o);
    }
  }
  return mentions_[reg];
}

Slot FunctionBuilder::destination(const Instruction& i, const Operand& o, int bytes) {
  if (o.kind == Operand::Kind::kRegister) return register_slot(o);
  if (o.kind == Operand::Kind::kSink) return scratch(bytes);
  refuse(i, "has a destination that is no register");
}

std::optional<std::uint64_t> FunctionBuilder::symbol_address(const Instruction& i,
                                                             const std::string& name,
                                                             Address kind) const {
  if (const auto offset = frame_.local_variable(name)) {
    if (!function_.is_kernel) return std::nullopt;
    return program::kLocalStart + *offset;
  }
  const Symbol* s = symbol(name);
  if (s == nullptr)
    refuse_undefined(i, "names '" + name + "', which nothing in the program defines");
  if (s->kind == Symbol::Kind::kShared && linker_.shared()[s->index].dynamic)
    return linker_.dynamic_shared(index_);
  return kind == Address::kGeneric ? linker_.address(*s) : linker_.space_address(*s);
}

Slot FunctionBuilder::emit_address(const Instruction& i, Action action, int bytes,
                                   std::int64_t immediate) {
  Op op;
  op.run = handlers_.of(action);
  op.dst = scratch(bytes);
  op.width = static_cast<std::uint8_t>(bytes);
  op.immediate = immediate;
  emit(i, op, ValidityTransfer::kFresh, {{op.dst, Role::kWrite}});
  return op.dst;
}

Op FunctionBuilder::conversion(Conversion which, Slot from, int from_bytes) {
  Op op;
  set_action(op, Action::kConvertAddress);
  op.as<program::AddressConversionFields>().set_which(which);
  op.width = 8;
  op.register_bytes = static_cast<std::uint8_t>(from_bytes);
  op.src[0] = from;
  if (which == Conversion::kFromConst || which == Conversion::kToConst)
    op.immediate = static_cast<std::int64_t>(linker_.constant_base());
  if (which == Conversion::kFromParam || which == Conversion::kToParam)
    out_.parameters_in_memory = true;
  return op;
}

Slot FunctionBuilder::emit_conversion(const Instruction& i, Slot from, int from_bytes,
                                      Conversion which) {
  Op op = conversion(which, from, from_bytes);
  op.dst = scratch(8);
  emit(i, op, ValidityTransfer::kCopy, {{from, Role::kValue}, {op.dst, Role::kWrite}});
  return op.dst;
}

Slot FunctionBuilder::source(const Instruction& i, const Operand& o, int bytes) {
  using Kind = Operand::Kind;
  switch (o.kind) {
    case Kind::kRegister: return register_slot(o);
    case Kind::kImmediate:
      return bytes == 0 ? constants_.predicate(o.bits != 0) : constants_.value(o.bits, bytes);
    case Kind::kSpecialRegister: {
      Op op;
      set_action(op, Action::kSpecialRegister);
      op.kind = isa::reads_clock(o.special) ? OpKind::kControl : OpKind::kCompute;
      op.dst = scratch(bytes);
      op.width = static_cast<std::uint8_t>(bytes);
      op.as<program::SpecialRegisterFields>().set_which(o.special);
      out_.reserved_shared |= isa::is_reserved_shared(o.special);
      emit(i, op, ValidityTransfer::kFresh, {{op.dst, Role::kWrite}});
      return op.dst;
    }
    case Kind::kSymbol:
    case Kind::kAddress: {
      if (o.kind == Kind::kAddress && o.has_register) break;
      if (const auto parameter = kernel_parameter(o.symbol)) {
        out_.parameters_in_memory = true;
        return constants_.value(
            static_cast<std::uint64_t>(sum(out_.parameter_offsets[*parameter], o.offset)), bytes);
      }
      if (storage(o.symbol) != nullptr)
        refuse(i,
               "takes the address of a function's parameter, which is not implemented by the "
               "simulated GPU");
      const auto a = symbol_address(i, o.symbol, Address::kOfItsSpace);
      if (!a)
        return emit_address(i, Action::kLocalAddress, bytes,
                            sum(*frame_.local_variable(o.symbol), o.offset));
      const std::uint64_t there = *a + static_cast<std::uint64_t>(o.offset);
      const Symbol* s = symbol(o.symbol);
      if (linker_.has_pairs() && s != nullptr && s->kind == Symbol::Kind::kShared && bytes >= 4)
        return emit_address(i, Action::kSharedAddress, bytes, static_cast<std::int64_t>(there));
      return constants_.value(there, bytes);
    }
    default: break;
  }
  refuse(i, "has an operand of a kind that the simulated GPU does not implement there");
}

bool FunctionBuilder::predicate_source(const Instruction& i, const Operand& o, Slot& slot) {
  if (o.kind == Operand::Kind::kNegatedPredicate) {
    slot = slots_[o.index];
    return true;
  }
  slot = source(i, o, 0);
  return false;
}

void FunctionBuilder::address(const Instruction& i, const Operand& o, Space space, Op& op) {
  op.space = static_cast<std::uint8_t>(space == Space::kParam ? Space::kConst : space);
  op.immediate = o.offset;
  if (o.kind == Operand::Kind::kAddress && o.has_register) {
    op.src[0] = register_slot(o);
    const int bytes = register_bytes(o);
    if (bytes != 4 && bytes != 8) refuse(i, "has an address register of neither 32 nor 64 bits");
    if (space == Space::kParam) {
      op.src[0] = emit_conversion(i, op.src[0], bytes, Conversion::kFromParam);
    } else if (bytes == 4) {
      op.as<program::MemoryFields>().add(program::kNarrowAddress);
    }
    if (space == Space::kConst)
      op.immediate = static_cast<std::int64_t>(static_cast<std::uint64_t>(op.immediate) +
                                               linker_.constant_base());
    return;
  }
  std::uint64_t base = o.bits;
  if (!o.symbol.empty()) {
    const auto a = symbol_address(i, o.symbol, Address::kGeneric);
    if (a) {
      base = *a;
    } else {
      base = *frame_.local_variable(o.symbol);
      op.as<program::MemoryFields>().add(program::kFrameAddress);
    }
  }
  const bool narrow = space == Space::kShared;
  op.src[0] = constants_.value(base, narrow ? 4 : 8);
  if (narrow) op.as<program::MemoryFields>().add(program::kNarrowAddress);
}

program::AddressOperand FunctionBuilder::further_address(const Instruction& i, const Operand& o,
                                                         Space space) {
  Op op;
  op.action = Action::kLoad;
  address(i, o, space, op);
  if (op.as<program::MemoryFields>().has(program::kFrameAddress))
    refuse(i, "copies from or to local memory");
  return {op.src[0], op.immediate, op.as<program::MemoryFields>().has(program::kNarrowAddress)};
}

}  // namespace lockstep::compile
