// The arithmetic of NVIDIA's matrix units, D = A * B + C, bit for bit.
//
// An element of D of a floating-point type other than f64 is a truncated sum of exact products:
//   1. The k products are divided into chunks, in order of k. The accumulator is passed from one
//      chunk to the next, rounded to the type of D each time.
//   2. A product is exact and not normalised: its significand is in [1, 4) for normal factors, its
//      exponent is the sum of the factors' exponents. Subnormal factors are used, with the smallest
//      exponent. The accumulator is one more term.
//   3. Every term is truncated, in magnitude, to `fraction_bits` below the largest exponent of all
//      terms. A zero term has the exponent `zero_exponent`. The truncated terms are summed exactly.
//   4. The sum is rounded to f32 toward zero, or to f16 to nearest, ties to even. Zero is +0; a NaN
//      has all bits below the sign set.
// f64 is a chain of fused multiply-adds in order of k. Integers are exact; a result that does not
// fit wraps or saturates.
//
// Sources: PTX ISA 9.0, 9.7.14; Khattak and Mikaitis, arXiv 2512.07004, and MMA-Sim, arXiv
// 2511.10909, for the parameters; docs/journal/silicon.md for the results of an H100.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::matrix {

// The parameters of one generation of units for one type of factor.
struct Unit {
  int fraction_bits = 0;          // retained bits below the largest exponent
  int products = 0;               // in each chunk
  int zero_exponent = 0;          // of a zero term
  int result_fraction_bits = 23;  // of f32 results
};

// compute_capability: 10 * major + minor. factor: kF16, kBF16, kTF32, kE4M3 or kE5M2; result: kF16
// or kF32.
Unit unit_of(int compute_capability, isa::Type factor, isa::Type result);

inline constexpr int kMaxM = 64, kMaxN = 256, kMaxK = 256;

// One multiplication. Elements are given as their bits, zero-extended.
struct Operation {
  isa::Type d = isa::Type::kNone, a = isa::Type::kNone, b = isa::Type::kNone, c = isa::Type::kNone;
  isa::Shape shape;
  isa::BoolOp bits = isa::BoolOp::kNone;          // for kB1
  isa::Rounding rounding = isa::Rounding::kNone;  // for kF64
  bool saturates = false;                         // for integers
  int products = 0;        // products a step, if fewer than the unit's chunk; 0: the unit's chunk
  bool warpgroup = false;  // wgmma and tcgen05.mma, which have their own units for fp8
  bool sparse = false;     // A has half of its columns; `columns` selects them
  int compute_capability = 90;
  // The scales of A's rows and B's columns as powers of two, which are added to the exponents of
  // their elements. kNotANumber makes the elements NaN. nullptr: no scales.
  const std::int16_t *row_scales = nullptr, *column_scales = nullptr;
  static constexpr std::int16_t kNotANumber = 0x7fff;
};

// a: m rows of k elements (k / 2 if sparse). b: n columns of k elements. c, d: m rows of n
// elements. columns, if sparse: for each element of A, its column in the whole matrix.
void multiply(const Operation& operation, const std::uint64_t* a, const std::uint64_t* b,
              const std::uint64_t* c, const std::uint8_t* columns, std::uint64_t* d);

}  // namespace lockstep::matrix
