// Selects the family of handlers for an instruction.
#include "simulator/engine/ops/alu/converting.h"
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/isa/category.h"

namespace lockstep::engine {
namespace alu {
namespace {

Handler resolve_cvt(const AluKey& key) {
  const Type to = key.modifiers.type, from = key.modifiers.source_type;
  const bool to_float = to == Type::kF32 || to == Type::kF64,
             from_float = from == Type::kF32 || from == Type::kF64;
  const bool to_integer = integer_bytes(to) != 0, from_integer = integer_bytes(from) != 0;
  if (to_integer && from_integer) return resolve_convert_integer(key);
  if (to_float && from_float) return resolve_convert_float(key);
  if (to_float && from_integer) return resolve_convert_to_float(key);
  if (to_integer && from_float) return resolve_convert_from_float(key);
  if (Handler h = resolve_convert_narrow(key)) return h;
  if (Handler h = resolve_convert_small(key)) return h;
  return resolve_convert_half(key);
}

Handler resolve_arithmetic(const AluKey& key) {
  const Type type = key.modifiers.type;
  if (type == Type::kF32x2 || (type == Type::kF32 && is_half(key.modifiers.source_type)))
    return resolve_packed_float32(key);
  if (is_half(type)) return resolve_half(key);
  if (type == Type::kF32) return resolve_float32(key);
  if (type == Type::kF64) return resolve_float64(key);
  return resolve_integer(key);
}

}  // namespace
}  // namespace alu

Handler resolve_alu(const AluKey& key) {
  using namespace alu;
  const Type type = key.modifiers.type, source = key.modifiers.source_type;
  if (key.modifiers.carry_out) return resolve_carry(key);
  if (is_half(type) && (key.opcode == Opcode::k_ex2 || key.opcode == Opcode::k_tanh))
    return resolve_half(key);
  if (key.modifiers.approx || key.modifiers.full) return resolve_approximate(key);
  switch (isa::category_of(key.opcode)) {
    case isa::Category::kArithmetic: return resolve_arithmetic(key);
    case isa::Category::kIntegerArithmetic: return resolve_integer(key);
    case isa::Category::kCarry: return resolve_carry(key);
    case isa::Category::kApproximate:
      return is_half(type) || type == Type::kF32x2 ? resolve_arithmetic(key) : nullptr;
    case isa::Category::kBits: return resolve_bits(key);
    case isa::Category::kCompare:
      return is_half(type) || is_half(source) ? resolve_half_compare(key) : resolve_compare(key);
    case isa::Category::kMove: return resolve_move(key);
    case isa::Category::kConvert:
      return key.opcode == Opcode::k_cvt ? resolve_cvt(key) : resolve_convert_pack(key);
    case isa::Category::kVideo: return resolve_video(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine
