// Reference of the product on matrix units, D = A * B + C: the value and the bound of every
// element, and a model of one sum. B is given by columns: b is n x k. Factors are doubles, which
// represent every value of every type.
//
// How a unit sums one element, as measured and published (docs/reference/matrix.md). The products
// are cut into chunks of L, in order of k. A chunk sums T = L + 1 terms: the accumulator and L
// products. Each term is cut, toward zero, to F fraction bits below the largest exponent e of all
// terms. The exact sum of the rest is rounded toward zero to R fraction bits and becomes the
// accumulator. A product's exponent is the sum of its factors' exponents, without normalisation.
// With |x|' = max(|x|, least normal) for a factor x that is not 0, and z the exponent of a zero
// term, 2^e <= max(|acc|', the largest |a|' |b|', 2^z).
//
// Bound. One chunk with S = |acc| + sum |a|' |b|':
//   cutting:  each term loses less than 2^(e - F), so all lose less than
//             T 2^(e - F) <= T 2^-F (S + 2^-126 + 2^z);
//   rounding: less than 2^-R of the sum, or 2^(-126 - R) if the sum is subnormal.
// So a chunk's error is at most r S + f with r = T 2^-F (1 + 2^-R) + 2^-R and f = 2 (T 2^-F + 2^-R)
// 2^-126, because z is below -126. Errors of earlier chunks are part of acc, and grow with it: over
// q chunks
//   |D - exact| <= ((1 + r)^q - 1) S + q f (1 + r)^q,   S = |C| + (|A|' |B|')[i][j].
// On sm_90 (f16: F = 25, L = 16) r is about 2^-20.5 per chunk of 16 products. On sm_80 (F = 24, L =
// 8) it is about 2^-20.3 per chunk of 8, so that its budget is more than twice as large. e4m3 by
// mma on sm_90 to sm_110 has no unit: it computes two sums of 16 without C, then an addition
// rounded to nearest. There a step of 32 products counts as one chunk with r = 2 (T 2^-F (1 + 2^-R)
// + 2^-R) + 2^-24.
//
// Small integers: if S < 2^R and every element is an integer, nothing is cut or rounded, and the
// bound is 0. With k = 0 the result is C. With a product, a zero result is +0.
//
// Special values: if an operand is not finite, or S could overflow, the model determines the class
// of the result.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "reference/bounded.h"

namespace lockstep::reference {

using RowMajorD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The types of factors.
enum class Factor : std::uint8_t { kF16, kBf16, kTf32, kF64, kS8, kE4m3 };

// The value of an element, which is in the low bits of `bits`. tf32 is a float whose low 13 bits
// are ignored.
double value_of(Factor type, std::uint64_t bits);

// The parameters of the unit that sums products of this type into f32.
struct MatrixUnit {
  int fraction_bits = 0;  // F
  int products = 0;       // L
  int zero_exponent = 0;  // z
  int result_bits = 23;   // R
  int least_exponent =
      0;  // the least exponent of a factor, also of subnormals; unused if factors are normalised
  // Steps of 32 products: first those with k mod 4 of 0 or 1 are summed from +0, then the others,
  // then C is added.
  bool in_halves = false;
};

// The unit for f16, bf16, tf32 and e4m3. compute_capability: 10 * major + minor, from 7.5.
// warpgroup: the unit of wgmma.
MatrixUnit matrix_unit(Factor type, int compute_capability, bool warpgroup);

// a is m x k, b is n x k, c is m x n (asserted). Returns the m * n elements of D, row by row.
Bounded tensor_matmul(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c,
                      const MatrixUnit& unit);
// Returns the bits of the model.
Eigen::ArrayXf tensor_matmul_model(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c,
                                   const MatrixUnit& unit);

// f64: a chain of fused multiply-adds in order of k from C[i][j] on, each rounded to nearest, with
// products of +0 up to a multiple of 4. Bound: gamma(k + 2) S + k * 2^-1075 (1 + gamma(k)), S = |C|
// + |A| |B|: k roundings, the effect of underflow (reference/bounded.h), and two roundings of the
// value and S themselves.
Bounded tensor_matmul_f64(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c);
Eigen::ArrayXd tensor_matmul_f64_chain(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c);

// s8: exact, modulo 2^32.
Eigen::Array<std::int32_t, Eigen::Dynamic, 1> tensor_matmul_s8(const RowMajorD& a,
                                                               const RowMajorD& b,
                                                               const RowMajorD& c);

}  // namespace lockstep::reference
