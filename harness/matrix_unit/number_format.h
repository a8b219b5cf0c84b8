// The number formats of matrix units: f16, bf16, tf32, e4m3, e5m2, f32 and f64. Converts between
// their bits and their parts.
#pragma once

#include <cstdint>

namespace lockstep::matrix_unit {

struct NumberFormat {
  int fraction_bits = 0, exponent_bits = 0;
  int ignored_bits = 0;  // low bits below the fraction: tf32 has 13
  bool has_infinity =
      true;  // else the largest exponent holds numbers, and NaN is one fraction of it: e4m3

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int least_exponent() const { return 1 - bias(); }  // of normal and of subnormal numbers
  int greatest_exponent() const { return has_infinity ? bias() : bias() + 1; }
  int quantum_exponent() const {
    return least_exponent() - fraction_bits;
  }  // the least subnormal number is 2 to this power
  int sign_bit() const { return ignored_bits + fraction_bits + exponent_bits; }
  std::uint64_t sign() const { return std::uint64_t{1} << sign_bit(); }
  std::uint64_t infinity() const;  // has_infinity
  std::uint64_t nan() const;       // quiet, with further fraction bits set
};

inline constexpr NumberFormat kF16{10, 5}, kBF16{7, 8}, kTF32{10, 8, 13}, kE4M3{3, 4, 0, false},
    kE5M2{2, 5}, kF32{23, 8}, kF64{52, 11};

// A number: significand * 2^(exponent - fraction bits of its format), with a sign. Subnormal
// numbers have the least exponent and a significand below 2^fraction bits.
struct Parts {
  enum class Kind : std::uint8_t { kFinite, kInfinite, kNaN } kind = Kind::kFinite;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;

  bool is_zero() const { return kind == Kind::kFinite && significand == 0; }
};
Parts take_apart(std::uint64_t bits, const NumberFormat& format);

// The value of a finite number. Every format's numbers are exact in double.
double value_of(std::uint64_t bits, const NumberFormat& format);

// Encodes a finite number. False if the format does not represent it exactly, or only as a
// subnormal number that is not allowed.
bool encode(double value, const NumberFormat& format, bool allow_subnormal, std::uint64_t& bits);

}  // namespace lockstep::matrix_unit
