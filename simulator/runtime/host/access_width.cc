#include "simulator/runtime/host/access_width.h"

namespace lockstep::runtime {
namespace {

constexpr unsigned kSse = 16;

// Instructions behind the byte 0f. `prefix`: 0x66, 0xf2, 0xf3 or 0.
unsigned of_two_bytes(std::uint8_t opcode, std::uint8_t prefix, unsigned operand, unsigned vector) {
  switch (opcode) {
    case 0xb6:
    case 0xbe: return 1;  // movzx, movsx of a byte
    case 0xb7:
    case 0xbf: return 2;
    case 0xb0:
    case 0xc0: return 1;  // cmpxchg, xadd
    case 0xb1:
    case 0xc1:
    case 0xc3: return operand;      // and movnti
    case 0xc7: return 2 * operand;  // cmpxchg8b, cmpxchg16b
    case 0x12:
    case 0x13:
    case 0x16:
    case 0x17:
    case 0xd6: return 8;  // movlps, movhps, movq
    case 0x6e: return operand;
    case 0x7e: return prefix == 0xf3 ? 8 : operand;  // movq, movd
    case 0x10:
    case 0x11:
    case 0x51:
    case 0x58:
    case 0x59:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f: return prefix == 0xf3 ? 4 : prefix == 0xf2 ? 8 : vector;
    case 0x2a: return operand;
    case 0x2e:
    case 0x2f: return prefix == 0x66 ? 8 : 4;
    case 0x5a: return prefix == 0xf3 ? 4 : prefix == 0xf2 ? 8 : vector / 2;
    case 0x28:
    case 0x29:
    case 0x2b:
    case 0x6f:
    case 0x7f:
    case 0xe7:
    case 0xf0: return vector;  // aligned, unaligned and non-temporal moves
    default: return 1;
  }
}

unsigned of_one_byte(std::uint8_t opcode, unsigned operand) {
  // add, or, adc, sbb, and, sub, xor, cmp with a register
  if (opcode < 0x40 && (opcode & 7) < 4) return (opcode & 1) != 0 ? operand : 1;
  switch (opcode) {
    case 0x63: return 4;  // movsxd
    case 0x80:
    case 0x84:
    case 0x86:
    case 0x88:
    case 0x8a:
    case 0xa4:
    case 0xaa:
    case 0xac:
    case 0xc0:
    case 0xc6:
    case 0xd0:
    case 0xd2:
    case 0xf6:
    case 0xfe: return 1;
    case 0x69:
    case 0x6b:
    case 0x81:
    case 0x83:
    case 0x85:
    case 0x87:
    case 0x89:
    case 0x8b:
    case 0xa5:
    case 0xab:
    case 0xad:
    case 0xc1:
    case 0xc7:
    case 0xd1:
    case 0xd3:
    case 0xf7: return operand;
    case 0xff: return operand;  // inc, dec; a push or a call has eight
    case 0xd9: return 4;
    case 0xdd: return 8;
    default: return 1;
  }
}

}  // namespace

unsigned access_width(const std::uint8_t* at) {
  std::uint8_t prefix = 0;
  bool is_short = false;
  for (;; ++at) {
    if (*at == 0x66) {
      is_short = true;
      if (prefix == 0) prefix = 0x66;
    } else if (*at == 0xf2 || *at == 0xf3) {
      prefix = *at;
    } else if (*at != 0x2e && *at != 0x36 && *at != 0x3e && *at != 0x26 && *at != 0x64 &&
               *at != 0x65 && *at != 0x67 && *at != 0xf0) {
      break;
    }
  }
  constexpr std::uint8_t kPrefixes[] = {0, 0x66, 0xf3, 0xf2};
  if (*at == 0xc5) {  // VEX of two bytes
    return of_two_bytes(at[2], kPrefixes[at[1] & 3], 4, (at[1] & 4) != 0 ? 2 * kSse : kSse);
  }
  if (*at == 0xc4) {
    if ((at[1] & 0x1f) != 1) return 1;
    return of_two_bytes(at[3], kPrefixes[at[2] & 3], (at[2] & 0x80) != 0 ? 8 : 4,
                        (at[2] & 4) != 0 ? 2 * kSse : kSse);
  }
  if (*at == 0x62) {  // EVEX
    if ((at[1] & 7) != 1) return 1;
    return of_two_bytes(at[4], kPrefixes[at[2] & 3], (at[2] & 0x80) != 0 ? 8 : 4,
                        kSse << ((at[3] >> 5) & 3));
  }
  const bool wide = (*at & 0xf8) == 0x48;
  if ((*at & 0xf0) == 0x40) ++at;
  const unsigned operand = wide ? 8 : is_short ? 2 : 4;
  return *at == 0x0f ? of_two_bytes(at[1], prefix, operand, kSse) : of_one_byte(*at, operand);
}

}  // namespace lockstep::runtime
