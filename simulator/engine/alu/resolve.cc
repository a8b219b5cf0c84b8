// Which family answers for an instruction.
#include "simulator/engine/alu/converting.h"
#include "simulator/engine/alu/forms.h"

namespace lockstep::engine {
namespace alu {
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

Handler resolve_arithmetic(const AluKey& key) {
  const Type type = key.modifiers.type;
  if (type == Type::kF32x2 || (type == Type::kF32 && is_half(key.modifiers.source_type))) return resolve_packed_float32(key);
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
  if (is_half(type) && (key.opcode == Opcode::k_ex2 || key.opcode == Opcode::k_tanh)) return resolve_half(key);
  if (key.modifiers.approx || key.modifiers.full) return resolve_approximate(key);
  switch (key.opcode) {
    case Opcode::k_add: case Opcode::k_sub: case Opcode::k_mul: case Opcode::k_mad: case Opcode::k_fma: case Opcode::k_div:
    case Opcode::k_rem: case Opcode::k_min: case Opcode::k_max: case Opcode::k_abs: case Opcode::k_neg: case Opcode::k_rcp:
    case Opcode::k_sqrt: case Opcode::k_copysign:
      return resolve_arithmetic(key);
    case Opcode::k_sad: case Opcode::k_mul24: case Opcode::k_mad24: case Opcode::k_dp4a: case Opcode::k_dp2a:
      return resolve_integer(key);
    case Opcode::k_and: case Opcode::k_or: case Opcode::k_xor: case Opcode::k_not: case Opcode::k_cnot: case Opcode::k_shl:
    case Opcode::k_shr: case Opcode::k_shf: case Opcode::k_lop3: case Opcode::k_popc: case Opcode::k_clz: case Opcode::k_brev:
    case Opcode::k_bfind: case Opcode::k_bfe: case Opcode::k_bfi: case Opcode::k_fns: case Opcode::k_szext: case Opcode::k_bmsk:
    case Opcode::k_prmt:
      return resolve_bits(key);
    case Opcode::k_mov: case Opcode::k_selp: case Opcode::k_slct: return resolve_move(key);
    case Opcode::k_setp: case Opcode::k_set:
      return is_half(type) || is_half(source) ? resolve_half_compare(key) : resolve_compare(key);
    case Opcode::k_testp: return resolve_compare(key);
    case Opcode::k_addc: case Opcode::k_subc: case Opcode::k_madc: return resolve_carry(key);
    case Opcode::k_cvt: return resolve_cvt(key);
    case Opcode::k_cvt_pack: return resolve_convert_pack(key);
    case Opcode::k_vabsdiff4: return resolve_video(key);
    default: return is_half(type) || type == Type::kF32x2 ? resolve_arithmetic(key) : nullptr;
  }
}

}  // namespace lockstep::engine
