#include "simulator/compile/lower_address.h"

#include "simulator/compile/lower_compute.h"
#include "simulator/compile/memory_order.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Space;
using isa::Type;

void lower_address(FunctionBuilder& b, const Instruction& i) {
  const Operand& d = i.operands[0];
  const Operand& from = i.operands[1];
  const Space space = i.modifiers.space;
  if (i.opcode == Opcode::k_isspacep) {
    Op op;
    b.set_action(op, Action::kIsSpace);
    op.space = static_cast<std::uint8_t>(space);
    op.dst = b.destination(i, d, 0);
    op.src[0] = b.source(i, from, 8);
    b.emit(i, op, ValidityTransfer::kCompute, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
    return;
  }
  const int bytes = b.register_bytes(d);
  if (bytes != 8 && bytes != 4) b.refuse(i, "has a destination of neither 32 nor 64 bits");
  if (space == Space::kGlobal) {
    // Global addresses are generic addresses.
    if (from.kind == Operand::Kind::kRegister && b.register_bytes(from) != bytes)
      b.refuse(i, "converts between widths");
    Instruction move = i;
    move.opcode = Opcode::k_mov;
    move.modifiers = {};
    move.modifiers.type = bytes == 8 ? Type::kB64 : Type::kB32;
    move.rules = nullptr;
    lower_compute(b, move);
    return;
  }
  using Conversion = program::AddressConversion;
  const bool to = i.modifiers.to;
  Conversion which = to ? Conversion::kToShared : Conversion::kFromShared;
  if (space == Space::kLocal) which = to ? Conversion::kToLocal : Conversion::kFromLocal;
  if (space == Space::kParam) which = to ? Conversion::kToParam : Conversion::kFromParam;
  if (space == Space::kConst) which = to ? Conversion::kToConst : Conversion::kFromConst;
  const int from_bytes = from.kind == Operand::Kind::kRegister ? b.register_bytes(from) : 8;
  Op op = b.conversion(which, b.source(i, from, from_bytes), from_bytes);
  op.dst = b.register_slot(d);
  op.width = static_cast<std::uint8_t>(bytes);
  b.emit(i, op, ValidityTransfer::kCopy, {{op.src[0], Role::kValue}, {op.dst, Role::kWrite}});
}

void lower_cluster_address(FunctionBuilder& b, const Instruction& i) {
  const bool map = i.opcode == Opcode::k_mapa;
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, map ? Action::kMapAddress : Action::kRankOfAddress);
  op.space = static_cast<std::uint8_t>(space_of(i.modifiers));
  op.width = static_cast<std::uint8_t>(isa::size_of(i.modifiers.type));
  op.dst = b.destination(i, i.operands[0], map ? op.width : 4);
  op.src[0] = b.source(i, i.operands[1], op.width);
  std::vector<OperandUse> uses{{op.src[0], Role::kValue}, {op.dst, Role::kWrite}};
  if (map) {
    op.src[1] = b.source(i, i.operands[2], 4);
    uses.push_back({op.src[1], Role::kValue});
  }
  b.emit(i, op, ValidityTransfer::kCompute, std::move(uses));
}

}  // namespace lockstep::compile
