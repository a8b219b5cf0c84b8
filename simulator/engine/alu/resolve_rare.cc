// Which family answers for an instruction that is too rare to be worth a second compilation, with AVX-512.
#include "simulator/engine/alu/converting.h"
#include "simulator/engine/alu/forms.h"

namespace lockstep::engine::LOCKSTEP_ISA {
namespace {

Handler resolve_cvt(const AluKey& key) {
  const Type to = key.modifiers.type, from = key.modifiers.source_type;
  const bool to_float = to == Type::kF32 || to == Type::kF64, from_float = from == Type::kF32 || from == Type::kF64;
  const bool to_integer = integer_bytes(to) != 0, from_integer = integer_bytes(from) != 0;
  if (to_integer && from_integer) return resolve_convert_integer(key);
  if (to_float && from_float) return resolve_convert_float(key);
  if (to_float && from_integer) return resolve_convert_to_float(key);
  if (to_integer && from_float) return resolve_convert_from_float(key);
  if (Handler h = resolve_convert_small(key)) return h;
  return resolve_convert_half(key);
}

}  // namespace

Handler resolve_rare_alu(const AluKey& key) {
  const Type type = key.modifiers.type;
  if (key.modifiers.carry_out) return resolve_carry(key);
  if (is_half(type) && (key.opcode == Opcode::k_ex2 || key.opcode == Opcode::k_tanh)) return resolve_half(key);
  if (key.modifiers.approx || key.modifiers.full) return resolve_approximate(key);
  switch (key.opcode) {
    case Opcode::k_setp: case Opcode::k_set: return resolve_half_compare(key);
    case Opcode::k_addc: case Opcode::k_subc: case Opcode::k_madc: return resolve_carry(key);
    case Opcode::k_cvt: return resolve_cvt(key);
    case Opcode::k_cvt_pack: return resolve_convert_pack(key);
    case Opcode::k_vabsdiff4: return resolve_video(key);
    default: break;
  }
  if (type == Type::kF32x2 || (type == Type::kF32 && is_half(key.modifiers.source_type))) return resolve_packed_float32(key);
  return is_half(type) ? resolve_half(key) : nullptr;
}

}  // namespace lockstep::engine::LOCKSTEP_ISA
