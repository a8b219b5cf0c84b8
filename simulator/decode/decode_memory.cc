// Loads, stores, atomics, parameters and addresses.
#include "simulator/decode/function_decoder.h"
#include "simulator/engine/async_copy.h"
#include "simulator/engine/cluster.h"
#include "simulator/engine/control.h"
#include "simulator/engine/memory_ops.h"

namespace lockstep::decode {

using engine::Flow;
using engine::kNoSlot;
using engine::Op;
using engine::OpKind;
using engine::OperandUse;
using engine::Slot;
using ptx::AtomOp;
using ptx::Opcode;
using ptx::Semantics;
using ptx::Space;
using ptx::Type;
using Role = OperandUse::Role;

namespace {

bool is_signed(Type t) { return t == Type::kS8 || t == Type::kS16 || t == Type::kS32 || t == Type::kS64; }

Space space_of(const ptx::Instruction& i) {
  const Space s = i.modifiers.space;
  return s == Space::kNone ? Space::kGeneric : s == Space::kSharedCluster ? Space::kSharedCluster : s;
}

std::uint8_t ordering(const ptx::Modifiers& m) {
  switch (m.semantics) {
    case Semantics::kNone: case Semantics::kWeak: return 0;
    case Semantics::kAcquire: return engine::kStrong | engine::kAcquire;
    case Semantics::kRelease: return engine::kStrong | engine::kRelease;
    case Semantics::kAcqRel: case Semantics::kSc: return engine::kStrong | engine::kAcquire | engine::kRelease;
    default: return engine::kStrong;
  }
}

}  // namespace

std::uint8_t reach(const ptx::Modifiers& m) {
  switch (m.scope) {
    case ptx::Scope::kCta: return static_cast<std::uint8_t>(check::Reach::kBlock);
    case ptx::Scope::kCluster: return static_cast<std::uint8_t>(check::Reach::kCluster);
    default: return static_cast<std::uint8_t>(check::Reach::kGrid);  // .gpu, .sys, and what says nothing: atom, ld.volatile
  }
}

bool FunctionDecoder::decode_memory(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_ld: case Opcode::k_ldu: case Opcode::k_st: break;
    case Opcode::k_atom: decode_atomic(i, true); return true;
    case Opcode::k_red: decode_atomic(i, false); return true;
    case Opcode::k_cvta: case Opcode::k_isspacep: decode_address(i); return true;
    case Opcode::k_mapa: case Opcode::k_getctarank: decode_cluster_address(i); return true;
    case Opcode::k_prefetch: case Opcode::k_prefetchu: {
      // Of any address: PTX asks nothing of it.
      Op op;
      op.run = &engine::run_nothing;
      emit(i, op, Flow::kFresh, {});
      return true;
    }
    case Opcode::k_applypriority: case Opcode::k_cp_async_bulk_prefetch: {
      Op op;
      op.run = &engine::run_line_hint;
      op.kind = OpKind::kMemory;
      address(i, i.operands[0], Space::kGlobal, op);
      const bool prefetch = i.opcode == Opcode::k_cp_async_bulk_prefetch;
      op.width = prefetch ? 16 : 128;
      if (prefetch) op.src[1] = source(i, i.operands[1], 4);
      emit(i, op, Flow::kControl, {{op.src[0], Role::kAddress}, {op.src[1], Role::kAddress}});
      return true;
    }
    case Opcode::k_createpolicy: {
      // Policies only steer caches; the value is opaque.
      Instruction move = i;
      move.opcode = Opcode::k_mov;
      move.modifiers = {};
      move.modifiers.type = Type::kB64;
      move.rules = nullptr;
      Operand zero;
      zero.kind = Operand::Kind::kImmediate;
      move.operands = {i.operands[0], zero};
      decode_compute(move);
      return true;
    }
    default: return false;
  }
  const bool load = i.opcode != Opcode::k_st;
  const Operand& where = i.operands[load ? 1 : 0];
  const Operand& data = i.operands[load ? 0 : 1];
  const Space space = space_of(i);
  if (space == Space::kParam && !(where.kind == Operand::Kind::kAddress && where.has_register)) {
    decode_parameter_access(i, load);
    return true;
  }
  Op op;
  op.kind = OpKind::kMemory;
  op.width = static_cast<std::uint8_t>(ptx::size_of(i.modifiers.type));
  op.flags = ordering(i.modifiers);
  op.reach = reach(i.modifiers);
  if (is_signed(i.modifiers.type)) op.flags |= engine::kSignExtend;
  // A parameter's address is that of the copy of the parameters in memory.
  address(i, where, space == Space::kParam ? Space::kGlobal : space, op);
  if (space == Space::kShared || space == Space::kSharedCluster || space == Space::kGeneric) {
    if (op.width < 4) out_.byte_granular = true;
  }
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  const Role role = load ? Role::kWrite : Role::kValue;
  op.elements = i.modifiers.vector;
  if (op.elements != 1) {
    if (data.kind != Operand::Kind::kVector || data.elements.size() != op.elements) refuse(i, "has a vector operand of another length");
    if (op.width * op.elements > 32) refuse(i, "moves more than 32 bytes a thread");
    op.target = static_cast<std::uint32_t>(program_.slots.size());
    op.register_bytes = register_bytes_of(i, data, op.width);
    std::vector<Slot> slots;
    for (const Operand& e : data.elements) slots.push_back(load ? optional_destination(e) : source(i, e, op.register_bytes));
    op.target = static_cast<std::uint32_t>(program_.slots.size());
    for (const Slot s : slots) {
      program_.slots.push_back(s);
      uses.push_back({s, role});
    }
  } else {
    const Operand& d = data.kind == Operand::Kind::kVector && data.elements.size() == 1 ? data.elements[0] : data;
    op.register_bytes = d.kind == Operand::Kind::kRegister ? static_cast<std::uint8_t>(register_bytes(d)) : op.width;
    Slot& slot = load ? op.dst : op.src[1];
    slot = load ? destination(i, d, op.register_bytes) : source(i, d, op.register_bytes);
    uses.push_back({slot, role});
  }
  if (op.register_bytes < op.width) refuse(i, "has a register narrower than the access");
  op.run = load ? engine::load_handler(op) : engine::store_handler(op);
  emit(i, op, load ? Flow::kLoad : Flow::kStore, std::move(uses));
  return true;
}

std::uint8_t FunctionDecoder::register_bytes_of(const Instruction& i, const Operand& vector, std::uint8_t width) const {
  std::uint8_t bytes = 0;
  for (const Operand& e : vector.elements) {
    if (e.kind != Operand::Kind::kRegister) continue;
    if (bytes != 0 && register_bytes(e) != bytes) refuse(i, "mixes registers of several widths");
    bytes = static_cast<std::uint8_t>(register_bytes(e));
  }
  return bytes != 0 ? bytes : width;
}

void FunctionDecoder::decode_parameter_access(const Instruction& i, bool load) {
  const Operand& where = i.operands[load ? 1 : 0];
  const Operand& data = i.operands[load ? 0 : 1];
  Op op;
  op.width = static_cast<std::uint8_t>(ptx::size_of(i.modifiers.type));
  op.elements = i.modifiers.vector;
  if (is_signed(i.modifiers.type)) op.flags |= engine::kSignExtend;
  const std::uint64_t bytes = std::uint64_t{op.width} * op.elements;
  std::uint64_t size = 0;
  if (const auto it = kernel_parameters_.find(where.symbol); it != kernel_parameters_.end()) {
    if (!load) refuse(i, "writes a kernel parameter");
    size = out_.parameter_sizes[it->second];
    op.run = &engine::load_kernel_parameter;
    op.immediate = out_.parameter_offsets[it->second];
  } else if (const engine::Storage* s = storage(where.symbol)) {
    size = s->size;
    op.run = load ? &engine::load_storage : &engine::store_storage;
    op.src[0] = s->offset;
    op.src[1] = s->size;
  } else {
    refuse(i, "names no parameter: '" + where.symbol + "'");
  }
  if (where.offset < 0 || static_cast<std::uint64_t>(where.offset) + bytes > size) {
    refuse(i, "reaches outside the parameter '" + where.symbol + "' of " + std::to_string(size) + " bytes");
  }
  op.immediate += where.offset;
  std::vector<OperandUse> uses;
  const Role role = load ? Role::kWrite : Role::kValue;
  if (op.elements != 1) {
    if (data.kind != Operand::Kind::kVector || data.elements.size() != op.elements) refuse(i, "has a vector operand of another length");
    op.register_bytes = register_bytes_of(i, data, op.width);
    std::vector<Slot> slots;
    for (const Operand& e : data.elements) slots.push_back(load ? optional_destination(e) : source(i, e, op.register_bytes));
    op.target = static_cast<std::uint32_t>(program_.slots.size());
    for (const Slot s : slots) {
      program_.slots.push_back(s);
      uses.push_back({s, role});
    }
  } else {
    op.register_bytes = data.kind == Operand::Kind::kRegister ? static_cast<std::uint8_t>(register_bytes(data)) : op.width;
    Slot& slot = load ? op.dst : op.src[3];
    slot = load ? destination(i, data, op.register_bytes) : source(i, data, op.register_bytes);
    uses.push_back({slot, role});
  }
  if (op.register_bytes < op.width) refuse(i, "has a register narrower than the access");
  emit(i, op, load ? Flow::kFresh : Flow::kControl, load ? std::move(uses) : std::vector<OperandUse>{});
}

void FunctionDecoder::decode_atomic(const Instruction& i, bool has_result) {
  const ptx::Modifiers& m = i.modifiers;
  std::size_t n = has_result ? 1 : 0;
  Op op;
  op.kind = OpKind::kMemory;
  op.run = &engine::run_atomic;
  op.width = static_cast<std::uint8_t>(ptx::size_of(m.type));
  op.register_bytes = op.width;
  op.elements = m.vector;
  op.mode = static_cast<std::uint8_t>(m.atom);
  op.flags = ordering(m) | engine::kStrong;
  op.reach = reach(m);
  const bool brain = m.type == Type::kBF16 || m.type == Type::kBF16x2;
  const bool halves = brain || m.type == Type::kF16 || m.type == Type::kF16x2;
  if (m.type == Type::kF32 || m.type == Type::kF64) op.flags |= engine::kFloatResult;
  if (halves) op.flags |= engine::kHalfElements;
  if (brain || is_signed(m.type)) op.flags |= engine::kSignExtend;
  const bool compares = m.atom == AtomOp::kCas, exchanges = m.atom == AtomOp::kExch;
  if (m.atom == AtomOp::kNone || (op.width == 2 && !halves && !compares) || op.width < 2 || (op.width == 16 && !compares && !exchanges) ||
      ((op.flags & engine::kFloatResult) && m.atom != AtomOp::kAdd && !exchanges)) {
    refuse(i, "is not implemented by the simulated GPU");
  }
  address(i, i.operands[n++], space_of(i), op);
  if (op.width == 2) out_.byte_granular = true;
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}};
  if (m.vector != 1) {
    const auto& data = i.operands[n].elements;
    std::vector<Slot> slots;
    for (const Operand& e : data) {
      slots.push_back(source(i, e, op.width));
      uses.push_back({slots.back(), Role::kValue});
    }
    for (std::size_t e = 0; e < data.size(); ++e) {
      slots.push_back(has_result ? optional_destination(i.operands[0].elements[e]) : kNoSlot);
      uses.push_back({slots.back(), Role::kWrite});
    }
    op.target = static_cast<std::uint32_t>(program_.slots.size());
    program_.slots.insert(program_.slots.end(), slots.begin(), slots.end());
    emit(i, op, Flow::kAtomic, std::move(uses));
    return;
  }
  op.src[1] = source(i, i.operands[n++], op.width);
  uses.push_back({op.src[1], Role::kValue});
  if (compares) {
    op.src[2] = source(i, i.operands[n++], op.width);
    uses.push_back({op.src[2], Role::kValue});
  }
  // Without a reader of its result it is a red, as ptxas makes it: nothing the thread does depends on what was there.
  if (has_result && i.operands[0].kind == Operand::Kind::kRegister && mentions(i.operands[0].index) > 1) {
    op.dst = register_slot(i.operands[0]);
    uses.push_back({op.dst, Role::kWrite});
  }
  emit(i, op, Flow::kAtomic, std::move(uses));
}

void FunctionDecoder::decode_address(const Instruction& i) {
  const Operand& d = i.operands[0];
  const Operand& from = i.operands[1];
  const Space space = i.modifiers.space;
  if (i.opcode == Opcode::k_isspacep) {
    Op op;
    op.run = &engine::run_is_space;
    op.space = static_cast<std::uint8_t>(space);
    op.dst = destination(i, d, 0);
    op.src[0] = source(i, from, 8);
    emit(i, op, Flow::kCompute, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
    return;
  }
  const int bytes = register_bytes(d);
  if (bytes != 8 && bytes != 4) refuse(i, "has a destination of neither 32 nor 64 bits");
  const bool shared = space == Space::kShared || space == Space::kSharedCluster, local = space == Space::kLocal;
  if (!shared && !local) {
    // Global and constant addresses are generic addresses.
    if (from.kind == Operand::Kind::kRegister && register_bytes(from) != bytes) refuse(i, "converts between widths");
    Instruction move = i;
    move.opcode = Opcode::k_mov;
    move.modifiers = {};
    move.modifiers.type = bytes == 8 ? Type::kB64 : Type::kB32;
    move.rules = nullptr;
    decode_compute(move);
    return;
  }
  Op op;
  op.run = &engine::run_convert_address;
  op.mode = static_cast<std::uint8_t>((shared ? 0 : 2) + (i.modifiers.to ? 1 : 0));
  op.dst = register_slot(d);
  op.width = static_cast<std::uint8_t>(bytes);
  op.register_bytes = static_cast<std::uint8_t>(from.kind == Operand::Kind::kRegister ? register_bytes(from) : 8);
  op.src[0] = source(i, from, op.register_bytes);
  emit(i, op, Flow::kCopy, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
}

void FunctionDecoder::decode_cluster_address(const Instruction& i) {
  const bool map = i.opcode == Opcode::k_mapa;
  Op op;
  op.kind = OpKind::kMemory;
  op.run = map ? &engine::run_map_address : &engine::run_rank_of_address;
  op.space = static_cast<std::uint8_t>(space_of(i));
  op.width = static_cast<std::uint8_t>(ptx::size_of(i.modifiers.type));
  op.dst = destination(i, i.operands[0], map ? op.width : 4);
  op.src[0] = source(i, i.operands[1], op.width);
  std::vector<OperandUse> uses{{op.src[0], Role::kValue}, {op.dst, Role::kWrite}};
  if (map) {
    op.src[1] = source(i, i.operands[2], 4);
    uses.push_back({op.src[1], Role::kValue});
  }
  emit(i, op, Flow::kCompute, std::move(uses));
}

}  // namespace lockstep::decode
