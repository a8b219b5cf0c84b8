// Which family answers for an instruction. The families here are compiled once per instruction set.
#include "simulator/engine/alu/forms.h"

namespace lockstep::engine::LOCKSTEP_ISA {

Handler resolve_alu(const AluKey& key) {
  const Type type = key.modifiers.type, source = key.modifiers.source_type;
  const bool carries = key.modifiers.carry_out, approximate = key.modifiers.approx || key.modifiers.full;
  const bool packed = type == Type::kF32x2 || is_half(type) || is_half(source);
  if (carries || approximate) return avx2::resolve_rare_alu(key);
  switch (key.opcode) {
    case Opcode::k_add: case Opcode::k_sub: case Opcode::k_mul: case Opcode::k_mad: case Opcode::k_fma: case Opcode::k_div:
    case Opcode::k_rem: case Opcode::k_min: case Opcode::k_max: case Opcode::k_abs: case Opcode::k_neg: case Opcode::k_rcp:
    case Opcode::k_sqrt: case Opcode::k_copysign:
      if (packed) return avx2::resolve_rare_alu(key);
      if (type == Type::kF32) return resolve_float32(key);
      if (type == Type::kF64) return resolve_float64(key);
      return resolve_integer(key);
    case Opcode::k_sad: case Opcode::k_mul24: case Opcode::k_mad24: case Opcode::k_dp4a: case Opcode::k_dp2a:
      return resolve_integer(key);
    case Opcode::k_and: case Opcode::k_or: case Opcode::k_xor: case Opcode::k_not: case Opcode::k_cnot: case Opcode::k_shl:
    case Opcode::k_shr: case Opcode::k_shf: case Opcode::k_lop3: case Opcode::k_popc: case Opcode::k_clz: case Opcode::k_brev:
    case Opcode::k_bfind: case Opcode::k_bfe: case Opcode::k_bfi: case Opcode::k_fns: case Opcode::k_szext: case Opcode::k_bmsk:
    case Opcode::k_prmt:
      return resolve_bits(key);
    case Opcode::k_mov: case Opcode::k_selp: case Opcode::k_slct: return resolve_move(key);
    case Opcode::k_setp: case Opcode::k_set:
      return packed ? avx2::resolve_rare_alu(key) : resolve_compare(key);
    case Opcode::k_testp: return resolve_compare(key);
    default: return avx2::resolve_rare_alu(key);
  }
}

}  // namespace lockstep::engine::LOCKSTEP_ISA
