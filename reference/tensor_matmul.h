// Reference of the product on matrix units, D = A * B + C: value and bound of every element, and a
// model of one sum. B is given by columns: b is n x k. Factors are held as doubles, which have
// every value of every type.
//
// How a unit sums one element, as measured and published (docs/reference/matrix.md): the products
// are cut into chunks of L, in order of k. In a chunk the accumulator and the L products, T = L + 1
// terms, are cut, toward zero, to F fraction bits below the largest exponent e of all terms; their
// exact sum is rounded toward zero to R fraction bits and becomes the accumulator. A product's
// exponent is the sum of its factors', which is not normalised: with |x|' = max(|x|, least normal)
// of a factor x that is not 0, 2^e <= max(|acc|', the largest |a|' |b|', 2^z), z being the exponent
// of a term that is 0.
//
// Bound. Of one chunk with S = |acc| + sum |a|' |b|':
//   cutting:  each term loses less than 2^(e - F), so all lose less than
//             T 2^(e - F) <= T 2^-F (S + 2^-126 + 2^z);
//   rounding: less than 2^-R of the sum, or 2^(-126 - R) where that is subnormal.
// So a chunk's error is at most r S + f with r = T 2^-F (1 + 2^-R) + 2^-R and f = 2 (T 2^-F + 2^-R)
// 2^-126, z being below -126. Errors of the chunks before are part of acc, and grow with it: over q
// chunks
//   |D - exact| <= ((1 + r)^q - 1) S + q f (1 + r)^q,   S = |C| + (|A|' |B|')[i][j].
// On sm_90 (f16: F = 25, L = 16) r is about 2^-20.5 a chunk of 16 products; on sm_80 (F = 24, L =
// 8) about 2^-20.3 a chunk of 8, so that its budget is twice as large and more. Where a unit is no
// unit (e4m3 by mma on sm_90 to sm_110: two sums of 16 without C, then an addition to the nearest),
// a step of 32 products counts as one chunk with r = 2 (T 2^-F (1 + 2^-R) + 2^-R) + 2^-24.
//
// Small integers: with S < 2^R and no element that is not an integer, nothing is cut and nothing
// rounded; the bound is 0. k = 0 gives C. Zero is +0 where there is a product.
//
// Special values: where an operand is not finite, or S could overflow, the class of the result is
// the model's.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "reference/bounded.h"

namespace lockstep::reference {

using RowMajorD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The types of factors.
enum class Factor : std::uint8_t { kF16, kBf16, kTf32, kF64, kS8, kE4m3 };

// The value of an element, whose bits are the low ones of `bits`. tf32 is a float whose low 13 bits
// do not count.
double value_of(Factor type, std::uint64_t bits);

// The unit that sums products of this type into f32.
struct MatrixUnit {
  int fraction_bits = 0;  // F
  int products = 0;       // L
  int zero_exponent = 0;  // z
  int result_bits = 23;   // R
  int least_exponent =
      0;  // of a factor: that of its subnormals too; none where factors come normalised
  // In steps of 32 products: first those with k mod 4 of 0 or 1, from +0; then the others; then C
  // is added.
  bool in_halves = false;
};

// compute_capability: 10 * major + minor, from 7.5. warpgroup: by wgmma. Of f16, bf16, tf32 and
// e4m3.
MatrixUnit matrix_unit(Factor type, int compute_capability, bool warpgroup);

// a is m x k, b is n x k, c is m x n (asserted). The results' arrays are the m * n elements of D,
// row by row.
Bounded tensor_matmul(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c,
                      const MatrixUnit& unit);
// The model's bits.
Eigen::ArrayXf tensor_matmul_model(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c,
                                   const MatrixUnit& unit);

// f64: a chain of fused multiply-adds in order of k from C[i][j] on, each rounded to the nearest,
// with products of +0 up to a multiple of 4. Bound: gamma(k + 2) S + k * 2^-1075 (1 + gamma(k)), S
// = |C| + |A| |B|: k roundings, what underflow adds (reference/bounded.h), and two for the value
// and S themselves.
Bounded tensor_matmul_f64(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c);
Eigen::ArrayXd tensor_matmul_f64_chain(const RowMajorD& a, const RowMajorD& b, const RowMajorD& c);

// s8: exact, modulo 2^32.
Eigen::Array<std::int32_t, Eigen::Dynamic, 1> tensor_matmul_s8(const RowMajorD& a,
                                                               const RowMajorD& b,
                                                               const RowMajorD& c);

}  // namespace lockstep::reference
