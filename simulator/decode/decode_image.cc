// Textures and surfaces.
#include "simulator/decode/function_decoder.h"
#include "simulator/engine/image_ops.h"
#include "simulator/engine/memory_ops.h"

namespace lockstep::decode {

using engine::Flow;
using engine::ImageForm;
using engine::kNoSlot;
using engine::Op;
using engine::OpKind;
using engine::OperandUse;
using engine::Slot;
using ptx::Opcode;
using Role = OperandUse::Role;

bool FunctionDecoder::decode_image(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_tex: case Opcode::k_tld4: decode_texture(i); return true;
    case Opcode::k_suld: case Opcode::k_sust: case Opcode::k_sured: decode_surface(i); return true;
    case Opcode::k_txq: case Opcode::k_suq: {
      Op op;
      op.kind = OpKind::kMemory;
      op.run = &engine::run_image_query;
      op.mode = i.opcode == Opcode::k_suq;
      op.immediate = static_cast<std::int64_t>(i.modifiers.query);
      op.dst = destination(i, i.operands[0], 4);
      op.src[0] = register_slot(i.operands[1]);
      std::vector<OperandUse> uses{{op.src[0], Role::kAddress}, {op.dst, Role::kWrite}};
      if (i.operands.size() == 3) {
        op.src[1] = source(i, i.operands[2], 4);
        uses.push_back({op.src[1], Role::kValue});
      }
      emit(i, op, Flow::kCompute, std::move(uses));
      return true;
    }
    default: return false;
  }
}

void FunctionDecoder::decode_coordinates(const Instruction& i, const Operand& image, Op& op, std::vector<OperandUse>& uses) {
  op.kind = OpKind::kMemory;
  op.src[0] = register_slot(image);
  uses.push_back({op.src[0], Role::kAddress});
  const ptx::Geometry geometry = i.modifiers.geometry;
  const Operand& c = image.elements[0];
  std::size_t next = 0;
  const auto take = [&](bool there) {
    Slot s = kNoSlot;
    if (there) {
      s = source(i, c.kind == Operand::Kind::kVector ? c.elements[next++] : c, 4);
      uses.push_back({s, Role::kAddress});
    }
    return s;
  };
  Slot slots[engine::kImageSlots];
  slots[0] = take(is_layered(geometry));
  for (int d = 0; d < 3; ++d) slots[1 + d] = take(d < dimensions_of(geometry));
  op.src[3] = static_cast<Slot>(program_.slots.size());
  program_.slots.insert(program_.slots.end(), std::begin(slots), std::end(slots));
}

void FunctionDecoder::decode_texture(const Instruction& i) {
  const ptx::Modifiers& m = i.modifiers;
  Op op;
  std::vector<OperandUse> uses;
  decode_coordinates(i, i.operands[1], op, uses);
  op.run = &engine::run_texture;
  op.width = static_cast<std::uint8_t>(ptx::size_of(m.type));
  op.elements = m.vector;
  ImageForm form;
  form.geometry = m.geometry;
  form.type = m.type;
  form.gathers = i.opcode == Opcode::k_tld4;
  form.component = m.component;
  form.float_coordinates = m.source_type == ptx::Type::kF32;
  op.immediate = form.packed();
  const bool pair = i.operands[0].kind == Operand::Kind::kPair;
  const Operand& data = pair ? i.operands[0].elements[0] : i.operands[0];
  if (pair) {
    op.dst2 = optional_destination(i.operands[0].elements[1]);
    uses.push_back({op.dst2, Role::kWrite});
  }
  op.register_bytes = register_bytes_of(i, data, op.width);
  op.target = static_cast<std::uint32_t>(program_.slots.size());
  for (const Operand& e : data.elements) {
    program_.slots.push_back(optional_destination(e));
    uses.push_back({program_.slots.back(), Role::kWrite});
  }
  // Gradients change nothing in an image of one level, but what was never assigned is a mistake there too.
  for (std::size_t n = 2; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (o.kind != Operand::Kind::kVector) {
      const Slot level = source(i, o, 4);
      if (m.level == ptx::Level::kLevel) op.src[1] = level;
      uses.push_back({level, Role::kAddress});
    }
    for (std::size_t d = 0; d < o.elements.size() && d < static_cast<std::size_t>(dimensions_of(m.geometry)); ++d) {
      uses.push_back({source(i, o.elements[d], 4), Role::kAddress});
    }
  }
  emit(i, op, Flow::kLoad, std::move(uses));
}

void FunctionDecoder::decode_surface(const Instruction& i) {
  const ptx::Modifiers& m = i.modifiers;
  const bool load = i.opcode == Opcode::k_suld, reduces = i.opcode == Opcode::k_sured;
  Op op;
  std::vector<OperandUse> uses;
  decode_coordinates(i, i.operands[load ? 1 : 0], op, uses);
  op.run = load ? &engine::run_surface_load : reduces ? &engine::run_surface_reduce : m.formatted ? &engine::run_surface_store_formatted : &engine::run_surface_store;
  op.width = static_cast<std::uint8_t>(ptx::size_of(m.type));
  op.elements = m.vector;
  op.space = static_cast<std::uint8_t>(ptx::Space::kGlobal);
  ImageForm form;
  form.geometry = m.geometry;
  form.type = m.type;
  form.border = m.border;
  form.formatted = m.formatted;
  op.immediate = form.packed();
  if (reduces) {
    op.mode = static_cast<std::uint8_t>(m.atom);
    op.flags = engine::kStrong;
    if (m.type == ptx::Type::kS32 || m.type == ptx::Type::kS64) op.flags |= engine::kSignExtend;
  }
  const Operand& data = i.operands[load ? 0 : 1];
  const Role role = load ? Role::kWrite : Role::kValue;
  op.register_bytes = op.width;
  if (data.kind == Operand::Kind::kVector) {
    op.register_bytes = register_bytes_of(i, data, op.width);
  } else if (data.kind == Operand::Kind::kRegister) {
    op.register_bytes = static_cast<std::uint8_t>(register_bytes(data));
  }
  // A sink among the elements of a load is left out; alone it has a place.
  const auto place = [&](const Operand& o) { return load ? optional_destination(o) : source(i, o, op.register_bytes); };
  std::vector<Slot> slots;
  if (data.kind == Operand::Kind::kVector) {
    for (const Operand& e : data.elements) slots.push_back(place(e));
  } else {
    slots.push_back(place(data));
  }
  if (slots.size() != op.elements) refuse(i, "has a vector operand of another length");
  for (const Slot s : slots) uses.push_back({s, role});
  if (slots.size() == 1) (load ? op.dst : op.src[1]) = slots[0];
  op.target = static_cast<std::uint32_t>(program_.slots.size());
  program_.slots.insert(program_.slots.end(), slots.begin(), slots.end());
  emit(i, op, load ? Flow::kLoad : reduces ? Flow::kAtomic : Flow::kStore, std::move(uses));
}

}  // namespace lockstep::decode
