// Shared parts of tests of arithmetic: rounding modes, integer types, saturation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/ops/alu/alu_test_support.h"
#include "simulator/engine/ops/alu/exact_reference.h"

namespace lockstep::engine::alu_test {

struct Mode {
  std::string word;  // of an opcode, such as ".rn"
  exact::Direction direction;
};
inline const std::vector<Mode> kRoundings = {{".rn", exact::Direction::kNearestEven},
                                             {".rz", exact::Direction::kZero},
                                             {".rm", exact::Direction::kDown},
                                             {".rp", exact::Direction::kUp}};

// .sat: clamps to [0, 1], NaN to 0 (PTX ISA, "add" and related instructions).
inline Bits saturated(Bits r, const exact::Format& f) {
  const Bits one = static_cast<Bits>(f.bias()) << (f.precision - 1);
  if (exact::is_nan_bits(r, f) || (r & f.sign_bit())) return 0;
  return r > one ? one : r;
}

struct IntegerType {
  std::string name;
  int bytes;
  bool is_signed;
  // The value of the low bits of a register.
  __int128 value(Bits b) const {
    const int spare = 64 - 8 * bytes;
    return is_signed ? static_cast<__int128>(static_cast<std::int64_t>(b << spare) >> spare)
                     : static_cast<__int128>(b << spare >> spare);
  }
  __int128 lowest() const { return is_signed ? -(__int128{1} << (8 * bytes - 1)) : 0; }
  __int128 highest() const { return (__int128{1} << (8 * bytes - (is_signed ? 1 : 0))) - 1; }
  // The register's bits for a value of this type: wrapped to the type, then sign- or zero-extended.
  Bits in_register(__int128 v) const { return static_cast<Bits>(value(static_cast<Bits>(v))); }
};

}  // namespace lockstep::engine::alu_test
