#include "simulator/decode/function_decoder.h"

#include <algorithm>
#include <unordered_set>

#include "simulator/decode/validity_flow.h"
#include "simulator/engine/control.h"
#include "simulator/engine/memory_ops.h"
#include "simulator/ptx/forms.h"

namespace lockstep::decode {

using engine::Flow;
using engine::kNoSlot;
using engine::Op;
using engine::OpKind;
using engine::OperandUse;
using engine::Slot;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Role = OperandUse::Role;

namespace {

// Registers and parameters of a warp: some 65,000 live values of 64 bits a thread.
constexpr std::uint64_t kBankBytes = 1u << 24;
// Parameters of a kernel with PTX ISA 8.1; a function's arguments are held to it as well.
constexpr std::uint64_t kParameterBytes = 32764;

// Wraps, as addresses do.
std::int64_t sum(std::uint32_t base, std::int64_t offset) { return static_cast<std::int64_t>(base + static_cast<std::uint64_t>(offset)); }

int bytes_of(Type t) { return t == Type::kPred ? 0 : ptx::size_of(t); }

}  // namespace

int operand_bytes(const ptx::Instruction& i, std::size_t n) {
  return bytes_of(i.rules == nullptr ? i.modifiers.type : ptx::operand_type((*i.rules)[n], i.modifiers));
}

FunctionDecoder::FunctionDecoder(const Linker& linker, std::uint32_t index, ConstantBank& constants, engine::Program& program,
                                 engine::RegisterPlaces places)
    : linker_(linker), ref_(linker.functions()[index]), function_(*ref_.function), index_(index), constants_(constants), program_(program),
      out_(program.functions[index]), places_(places) {}

void FunctionDecoder::refuse(const ptx::Instruction& i, const std::string& why) const {
  throw Refusal{"PTX line " + std::to_string(i.ptx_line) + ", " + (function_.is_kernel ? "kernel " : "function ") + out_.demangled + ": '" +
                    i.text + "' " + why,
                i.ptx_line};
}

void FunctionDecoder::lay_out_storage() {
  const auto add = [&](const ptx::Variable& v, const char* what) -> engine::Storage {
    engine::Storage s;
    s.name = v.name;
    s.size = static_cast<std::uint32_t>(v.size);
    s.offset = bank_;
    if (v.size == 0) throw Refusal{std::string(what) + " '" + v.name + "' of function " + out_.demangled + " has no size"};
    if (v.size > kParameterBytes) {
      throw Refusal{std::string(what) + " '" + v.name + "' of function " + out_.demangled + " has " + std::to_string(v.size) + " bytes; the limit is " +
                    std::to_string(kParameterBytes)};
    }
    check_bank();
    bank_ += (s.size * engine::kWarpSize + 63) & ~63u;
    storage_[v.name] = s;
    return s;
  };
  if (function_.is_kernel) {
    std::uint64_t bytes = 0;
    for (const ptx::Variable& v : function_.parameters) bytes += std::max<std::uint64_t>(v.size, v.alignment);
    if (bytes > 2 * kParameterBytes || out_.parameter_offsets.back() > kParameterBytes) {
      throw Refusal{"the parameters of kernel " + out_.demangled + " have more than " + std::to_string(kParameterBytes) + " bytes"};
    }
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) kernel_parameters_[function_.parameters[i].name] = i;
  } else {
    for (const ptx::Variable& v : function_.parameters) out_.parameters.push_back(add(v, "parameter"));
    for (const ptx::Variable& v : function_.results) out_.results.push_back(add(v, "result"));
  }
  for (const ptx::Variable& v : function_.variables) {
    if (v.space == Space::kParam) add(v, "parameter");
  }
}

void FunctionDecoder::check_bank() const {
  if (bank_ > kBankBytes) {
    throw Refusal{"function " + out_.demangled + " has more registers and parameters live at once than the simulated GPU has room for"};
  }
}

void FunctionDecoder::lay_out_local() {
  std::uint32_t at = 0;
  for (const ptx::Variable& v : function_.variables) {
    if (v.space != Space::kLocal) continue;
    const std::uint64_t alignment = std::max(v.alignment, 16u);
    const std::uint64_t begin = (at + alignment - 1) / alignment * alignment;
    if (begin > kLocalBytes || v.size > kLocalBytes - begin) {
      throw Refusal{"no room for the local variable '" + v.name + "' of " + out_.demangled + " (" + std::to_string(v.size) + " bytes, aligned to " +
                    std::to_string(v.alignment) + "): a thread has " + std::to_string(kLocalBytes) + " bytes of local memory"};
    }
    at = static_cast<std::uint32_t>(begin);
    local_[v.name] = at;
    // nvcc gathers a function's arrays in one variable of its own; its name would say nothing.
    const bool depot = v.name.rfind("__local_depot", 0) == 0;
    out_.local.push_back({depot ? "the function's local memory" : v.name, at, at + static_cast<std::uint32_t>(v.size)});
    at += static_cast<std::uint32_t>(v.size) + 16;
  }
  out_.local_bytes = (at + 63) & ~63u;
}

void FunctionDecoder::assign_registers() {
  Allocation a = allocate_registers(function_, places_);
  slots_ = std::move(a.slots);
  for (Slot& s : slots_) {
    if (s != kNoSlot) s += bank_;
  }
  for (const std::uint32_t v : a.undefined) out_.undefined.push_back(slots_[v]);
  bank_ += std::min<std::uint32_t>((a.bytes + 63) & ~63u, kBankBytes + 64);  // so that it does not wrap
  check_bank();
  out_.registers = a.live;
  scratch_end_ = bank_;
}

Slot FunctionDecoder::scratch(int bytes) {
  // Lanes may stop between two operations of an instruction, and park with operands in scratch places, while others go on elsewhere. Each lane keeps to
  // its own column as long as a place always holds values of one width.
  Scratch& places = scratch_[bytes];
  if (places.used == places.slots.size()) {
    places.slots.push_back(scratch_end_);
    scratch_end_ += std::max<std::uint32_t>(64, static_cast<std::uint32_t>(bytes * engine::kWarpSize));
  }
  return places.slots[places.used++];
}

int FunctionDecoder::register_bytes(const Operand& o) const { return bytes_of(function_.registers[o.index].type); }

Slot FunctionDecoder::optional_destination(const Operand& o) const {
  return o.kind == Operand::Kind::kRegister ? register_slot(o) : kNoSlot;
}

std::uint32_t FunctionDecoder::mentions(std::uint32_t reg) {
  if (mentions_.empty()) {
    mentions_.resize(function_.registers.size());
    const auto count = [&](const auto& self, const Operand& o) -> void {
      const bool names = o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kNegatedPredicate ||
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

Slot FunctionDecoder::destination(const Instruction& i, const Operand& o, int bytes) {
  if (o.kind == Operand::Kind::kRegister) return register_slot(o);
  if (o.kind == Operand::Kind::kSink) return scratch(bytes);
  refuse(i, "has a destination that is no register");
}

const engine::Storage* FunctionDecoder::storage(const std::string& name) const {
  const auto it = storage_.find(name);
  return it == storage_.end() ? nullptr : &it->second;
}

std::optional<std::uint64_t> FunctionDecoder::symbol_address(const Instruction& i, const std::string& name) const {
  if (const auto it = local_.find(name); it != local_.end()) {
    if (!function_.is_kernel) return std::nullopt;
    return engine::kLocalStart + it->second;
  }
  const Symbol* s = linker_.find(ref_.module_index, &function_, name);
  if (s == nullptr) refuse(i, "names '" + name + "', which nothing in the program defines");
  return linker_.address(*s);
}

Slot FunctionDecoder::source(const Instruction& i, const Operand& o, int bytes) {
  using Kind = Operand::Kind;
  switch (o.kind) {
    case Kind::kRegister: return register_slot(o);
    case Kind::kImmediate: return bytes == 0 ? constants_.predicate(o.bits != 0) : constants_.value(o.bits, bytes);
    case Kind::kSpecialRegister: {
      const Slot s = scratch(bytes);
      Op op;
      op.run = &engine::run_special;
      op.kind = engine::special_needs_clock(static_cast<std::uint32_t>(o.special)) ? OpKind::kControl : OpKind::kCompute;
      op.dst = s;
      op.width = static_cast<std::uint8_t>(bytes);
      op.target = static_cast<std::uint32_t>(o.special);
      emit(i, op, Flow::kFresh, {{s, Role::kWrite}});
      return s;
    }
    case Kind::kSymbol: case Kind::kAddress: {
      if (o.kind == Kind::kAddress && o.has_register) break;
      if (kernel_parameters_.contains(o.symbol)) {
        out_.parameters_in_memory = true;
        const Slot s = scratch(bytes);
        Op op;
        op.run = &engine::run_parameter_address;
        op.dst = s;
        op.width = static_cast<std::uint8_t>(bytes);
        op.immediate = sum(out_.parameter_offsets[kernel_parameters_.at(o.symbol)], o.offset);
        emit(i, op, Flow::kFresh, {{s, Role::kWrite}});
        return s;
      }
      if (storage(o.symbol) != nullptr) refuse(i, "takes the address of a function's parameter, which is not implemented by the simulated GPU");
      const auto a = symbol_address(i, o.symbol);
      if (!a) {
        const Slot s = scratch(bytes);
        Op op;
        op.run = &engine::run_local_address;
        op.dst = s;
        op.width = static_cast<std::uint8_t>(bytes);
        op.immediate = sum(local_.at(o.symbol), o.offset);
        emit(i, op, Flow::kFresh, {{s, Role::kWrite}});
        return s;
      }
      return constants_.value(*a + static_cast<std::uint64_t>(o.offset), bytes);
    }
    default: break;
  }
  refuse(i, "has an operand of a kind that the simulated GPU does not implement there");
}

bool FunctionDecoder::predicate_source(const Instruction& i, const Operand& o, Slot& slot) {
  if (o.kind == Operand::Kind::kNegatedPredicate) {
    slot = slots_[o.index];
    return true;
  }
  slot = source(i, o, 0);
  return false;
}

void FunctionDecoder::address(const Instruction& i, const Operand& o, Space space, Op& op) {
  op.space = static_cast<std::uint8_t>(space);
  op.immediate = o.offset;
  if (o.kind == Operand::Kind::kAddress && o.has_register) {
    op.src[0] = register_slot(o);
    const int bytes = register_bytes(o);
    if (bytes == 4) {
      op.flags |= engine::kNarrowAddress;
    } else if (bytes != 8) {
      refuse(i, "has an address register of neither 32 nor 64 bits");
    }
    return;
  }
  std::uint64_t base = o.bits;
  if (!o.symbol.empty()) {
    const auto a = symbol_address(i, o.symbol);
    if (a) {
      base = *a;
    } else {
      base = local_.at(o.symbol);
      op.flags |= engine::kFrameAddress;
    }
  }
  const bool narrow = space == Space::kShared;
  op.src[0] = constants_.value(base, narrow ? 4 : 8);
  if (narrow) op.flags |= engine::kNarrowAddress;
}

Op& FunctionDecoder::emit(const Instruction& i, const Op& operation, Flow flow, std::vector<OperandUse> uses) {
  Op op = operation;
  op.origin = static_cast<std::uint32_t>(program_.origins.size() - 1);
  if (i.guard.present) {
    op.guard = slots_[i.guard.index];
    op.guard_negated = i.guard.negated;
  }
  program_.ops.push_back(op);
  program_.flows.push_back(flow);
  program_.use_begin.push_back(static_cast<std::uint32_t>(program_.uses.size()));
  for (const OperandUse& u : uses) {
    if (u.slot != kNoSlot && !engine::is_constant(u.slot)) program_.uses.push_back(u);
  }
  return program_.ops.back();
}

void FunctionDecoder::decode_compute(const Instruction& i) {
  engine::AluKey key;
  key.opcode = i.opcode;
  key.modifiers = i.modifiers;
  Op op;
  std::vector<OperandUse> uses;
  const auto& operands = i.operands;
  const bool selects = i.opcode == Opcode::k_selp || i.opcode == Opcode::k_slct;
  int sources = 0;
  const auto put_source = [&](const Operand& o, int bytes) {
    if (sources == 4 && i.opcode != Opcode::k_lop3) refuse(i, "has more operands than the simulated GPU implements");
    Slot s = kNoSlot;
    if (bytes == 0) {
      if (predicate_source(i, o, s)) op.flags |= static_cast<std::uint8_t>(1u << sources);
    } else {
      s = source(i, o, bytes);
    }
    if (sources < 4) {
      op.src[sources] = s;
    } else {
      op.target = s;  // lop3's predicate
    }
    uses.push_back({s, selects && sources == 2 ? Role::kCondition : Role::kValue});
    ++sources;
    const bool is_register = o.kind == Operand::Kind::kRegister;
    key.register_bytes[key.operand_count++] = static_cast<std::uint8_t>(is_register && bytes != 0 ? register_bytes(o) : bytes);
  };
  if (operands.empty()) refuse(i, "is not implemented by the simulated GPU");
  if (operands.size() > 7) refuse(i, "is not implemented by the simulated GPU");

  const bool packs = i.opcode == Opcode::k_mov && operands.size() == 2 && operands[1].kind == Operand::Kind::kVector;
  const bool unpacks = i.opcode == Opcode::k_mov && operands[0].kind == Operand::Kind::kVector;
  if (unpacks) {
    const auto& parts = operands[0].elements;
    const int bytes = bytes_of(i.modifiers.type) / static_cast<int>(parts.size());
    if (parts.size() != 2 && parts.size() != 4) refuse(i, "is not implemented by the simulated GPU");
    Slot* const places[4] = {&op.dst, &op.dst2, &op.src[1], &op.src[2]};
    for (std::size_t n = 0; n < parts.size(); ++n) {
      *places[n] = optional_destination(parts[n]);
      key.register_bytes[key.operand_count++] =
          static_cast<std::uint8_t>(parts[n].kind == Operand::Kind::kRegister ? register_bytes(parts[n]) : bytes);
      uses.push_back({*places[n], Role::kWrite});
    }
    put_source(operands[1], bytes_of(i.modifiers.type));
  } else {
    const Operand& d = operands[0];
    const int bytes = operand_bytes(i, 0);
    const Operand& first = d.kind == Operand::Kind::kPair ? d.elements[0] : d;
    if (bytes == 0 && first.kind == Operand::Kind::kSink) {
      op.dst = kNoSlot;
    } else {
      op.dst = destination(i, first, bytes);
    }
    key.register_bytes[key.operand_count++] =
        static_cast<std::uint8_t>(first.kind == Operand::Kind::kRegister ? register_bytes(first) : bytes);
    uses.push_back({op.dst, Role::kWrite});
    if (d.kind == Operand::Kind::kPair) {
      key.has_second_destination = true;
      op.dst2 = optional_destination(d.elements[1]);
      uses.push_back({op.dst2, Role::kWrite});
    }
    if (packs) {
      const auto& parts = operands[1].elements;
      for (const Operand& p : parts) put_source(p, bytes_of(i.modifiers.type) / static_cast<int>(parts.size()));
    } else {
      for (std::size_t n = 1; n < operands.size(); ++n) put_source(operands[n], operand_bytes(i, n));
    }
  }
  op.run = engine::resolve_alu(key);
  if (op.run == nullptr) refuse(i, "is not implemented by the simulated GPU");
  const Flow flow = validity_flow(i, op);
  emit(i, op, flow, std::move(uses));
}

bool FunctionDecoder::decode_move(const Instruction& i) {
  if (i.opcode != Opcode::k_mov || i.operands.size() != 2) return false;
  // Straight into the destination: no scratch place and no second move.
  const Operand& from = i.operands[1];
  const int bytes = bytes_of(i.modifiers.type);
  if (i.operands[0].kind != Operand::Kind::kRegister || bytes < 2) return false;
  if (from.kind != Operand::Kind::kSpecialRegister) return false;
  Op op;
  op.dst = register_slot(i.operands[0]);
  op.width = static_cast<std::uint8_t>(register_bytes(i.operands[0]));
  op.run = &engine::run_special;
  op.kind = engine::special_needs_clock(static_cast<std::uint32_t>(from.special)) ? OpKind::kControl : OpKind::kCompute;
  op.target = static_cast<std::uint32_t>(from.special);
  emit(i, op, Flow::kFresh, {{op.dst, Role::kWrite}});
  return true;
}

void FunctionDecoder::decode(const Instruction& i) {
  for (auto& [bytes, places] : scratch_) places.used = 0;
  program_.origins.push_back({i.text, i.source, ref_.module_index, i.ptx_line, index_, i.row});
  if (decode_memory(i) || decode_control(i) || decode_exchange(i) || decode_async(i) || decode_image(i) || decode_move(i)) return;
  decode_compute(i);
}

void FunctionDecoder::note_guesses() {
  std::unordered_set<std::uint32_t> compared;  // registers
  for (const Instruction& i : function_.body) {
    if (i.opcode == Opcode::k_atom && i.modifiers.atom == ptx::AtomOp::kCas && i.operands[2].kind == Operand::Kind::kRegister) compared.insert(i.operands[2].index);
  }
  for (std::size_t n = 0; n < function_.body.size(); ++n) {
    const Instruction& i = function_.body[n];
    const bool weak = i.modifiers.semantics == ptx::Semantics::kNone || i.modifiers.semantics == ptx::Semantics::kWeak;
    if (i.opcode != Opcode::k_ld || !weak || i.operands[0].kind != Operand::Kind::kRegister || !compared.contains(i.operands[0].index)) continue;
    program_.guesses.insert(pc_of_[n + 1] - 1);  // an operation of an operand's own may come before the load
  }
}

void FunctionDecoder::decode() {
  lay_out_storage();
  lay_out_local();
  assign_registers();
  out_.entry = static_cast<std::uint32_t>(program_.ops.size());
  for (const Instruction& i : function_.body) {
    pc_of_.push_back(static_cast<std::uint32_t>(program_.ops.size()));
    decode(i);
  }
  // Falling off the end returns.
  pc_of_.push_back(static_cast<std::uint32_t>(program_.ops.size()));
  Instruction end;
  end.text = "end of function";
  end.opcode = Opcode::k_ret;
  if (!function_.body.empty()) {
    end.ptx_line = function_.body.back().ptx_line;
    end.source = function_.body.back().source;
  }
  decode(end);
  note_guesses();
  for (const Fixup& f : fixups_) {
    const std::uint32_t pc = pc_of_[f.instruction];
    if (f.table == ~0u) {
      program_.ops[f.pc].target = pc;
    } else {
      program_.tables[f.table][f.entry] = pc;
    }
  }
  out_.end = static_cast<std::uint32_t>(program_.ops.size());
  // Vectors may be read past a register's end by a whole register.
  out_.bank_bytes = ((scratch_end_ + 63) & ~63u) + 64;
}

}  // namespace lockstep::decode
