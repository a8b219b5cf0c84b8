#include "simulator/compile/lower_image.h"

#include "simulator/program/images.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Opcode;
using program::ImageForm;

namespace {

// Lowers the object's handle and the coordinates of [image, {..}].
void lower_coordinates(FunctionBuilder& b, const Instruction& i, const Operand& image, Op& op,
                       std::vector<OperandUse>& uses) {
  op.kind = OpKind::kMemory;
  op.src[0] = b.register_slot(image);
  uses.push_back({op.src[0], Role::kAddress});
  const isa::Geometry geometry = i.modifiers.geometry;
  const Operand& c = image.elements[0];
  std::size_t next = 0;
  const auto take = [&](bool there) {
    Slot s = kNoSlot;
    if (there) {
      s = b.source(i, c.kind == Operand::Kind::kVector ? c.elements[next++] : c, 4);
      uses.push_back({s, Role::kAddress});
    }
    return s;
  };
  Slot slots[program::kImageSlots];
  slots[0] = take(is_layered(geometry));
  for (int d = 0; d < 3; ++d) slots[1 + d] = take(d < dimensions_of(geometry));
  op.src[3] = static_cast<Slot>(b.program().slots.size());
  b.program().slots.insert(b.program().slots.end(), std::begin(slots), std::end(slots));
}

}  // namespace

void lower_texture(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  Op op;
  std::vector<OperandUse> uses;
  lower_coordinates(b, i, i.operands[1], op, uses);
  b.set_action(op, Action::kTexture);
  op.width = static_cast<std::uint8_t>(isa::size_of(m.type));
  op.elements = m.vector;
  ImageForm form;
  form.geometry = m.geometry;
  form.type = m.type;
  form.gathers = i.opcode == Opcode::k_tld4;
  form.component = m.component;
  form.float_coordinates = m.source_type == isa::Type::kF32;
  op.immediate = form.packed();
  const bool pair = i.operands[0].kind == Operand::Kind::kPair;
  const Operand& data = pair ? i.operands[0].elements[0] : i.operands[0];
  if (pair) {
    op.dst2 = b.optional_destination(i.operands[0].elements[1]);
    uses.push_back({op.dst2, Role::kWrite});
  }
  op.register_bytes = b.register_bytes_of(i, data, op.width);
  op.as<program::ListedFields>().set_first(b.program().slots.size());
  for (const Operand& e : data.elements) {
    b.program().slots.push_back(b.optional_destination(e));
    uses.push_back({b.program().slots.back(), Role::kWrite});
  }
  // Gradients have no effect on an image with one level, but reading an unassigned register is a
  // mistake there too.
  for (std::size_t n = 2; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (o.kind != Operand::Kind::kVector) {
      const Slot level = b.source(i, o, 4);
      if (m.level == isa::Level::kLevel) op.src[1] = level;
      uses.push_back({level, Role::kAddress});
    }
    for (std::size_t d = 0;
         d < o.elements.size() && d < static_cast<std::size_t>(dimensions_of(m.geometry)); ++d) {
      uses.push_back({b.source(i, o.elements[d], 4), Role::kAddress});
    }
  }
  b.emit(i, op, ValidityTransfer::kLoad, std::move(uses));
}

void lower_surface(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const bool load = i.opcode == Opcode::k_suld, reduces = i.opcode == Opcode::k_sured;
  Op op;
  std::vector<OperandUse> uses;
  lower_coordinates(b, i, i.operands[load ? 1 : 0], op, uses);
  b.set_action(op, load          ? Action::kSurfaceLoad
                   : reduces     ? Action::kSurfaceReduce
                   : m.formatted ? Action::kSurfaceStoreFormatted
                                 : Action::kSurfaceStore);
  op.width = static_cast<std::uint8_t>(isa::size_of(m.type));
  op.elements = m.vector;
  op.space = static_cast<std::uint8_t>(isa::Space::kGlobal);
  ImageForm form;
  form.geometry = m.geometry;
  form.type = m.type;
  form.border = m.border;
  form.formatted = m.formatted;
  op.immediate = form.packed();
  if (reduces) {
    op.as<program::AtomicFields>().set_what(m.atom);
    op.as<program::MemoryFields>().set(program::kStrong);
    if (m.type == isa::Type::kS32 || m.type == isa::Type::kS64)
      op.as<program::MemoryFields>().add(program::kSignExtend);
  }
  const Operand& data = i.operands[load ? 0 : 1];
  const Role role = load ? Role::kWrite : Role::kValue;
  op.register_bytes = op.width;
  if (data.kind == Operand::Kind::kVector) {
    op.register_bytes = b.register_bytes_of(i, data, op.width);
  } else if (data.kind == Operand::Kind::kRegister) {
    op.register_bytes = static_cast<std::uint8_t>(b.register_bytes(data));
  }
  // A sink in a list of loaded elements has no slot; a sink as the only element has one.
  const auto place = [&](const Operand& o) {
    return load ? b.optional_destination(o) : b.source(i, o, op.register_bytes);
  };
  std::vector<Slot> slots;
  if (data.kind == Operand::Kind::kVector) {
    for (const Operand& e : data.elements) slots.push_back(place(e));
  } else {
    slots.push_back(place(data));
  }
  if (slots.size() != op.elements) b.refuse(i, "has a vector operand of another length");
  for (const Slot s : slots) uses.push_back({s, role});
  if (slots.size() == 1) (load ? op.dst : op.src[1]) = slots[0];
  op.as<program::ListedFields>().set_first(b.program().slots.size());
  b.program().slots.insert(b.program().slots.end(), slots.begin(), slots.end());
  b.emit(i, op,
         load      ? ValidityTransfer::kLoad
         : reduces ? ValidityTransfer::kAtomic
                   : ValidityTransfer::kStore,
         std::move(uses));
}

void lower_image_query(FunctionBuilder& b, const Instruction& i) {
  Op op;
  op.kind = OpKind::kMemory;
  b.set_action(op, Action::kImageQuery);
  op.as<program::ImageQueryFields>().set_of_surface(i.opcode == Opcode::k_suq);
  op.immediate = static_cast<std::int64_t>(i.modifiers.query);
  op.dst = b.destination(i, i.operands[0], 4);
  op.src[0] = b.register_slot(i.operands[1]);
  std::vector<OperandUse> uses{{op.src[0], Role::kAddress}, {op.dst, Role::kWrite}};
  if (i.operands.size() == 3) {
    op.src[1] = b.source(i, i.operands[2], 4);
    uses.push_back({op.src[1], Role::kValue});
  }
  b.emit(i, op, ValidityTransfer::kCompute, std::move(uses));
}

}  // namespace lockstep::compile
