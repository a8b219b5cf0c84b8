// Reference of the product with block scale, D = A * B + C: value and bound of every element, and a
// model of one sum. The model is published (MMA-Sim, arXiv 2511.10909) and was not run here on
// silicon.
//
// Elements of a row of A and of B share a scale with their neighbours. A step takes 32 bytes of a
// row, and zeros behind its end. It has terms: with mxf8 each of its 32 products of e4m3, times the
// two scales; with nvf4, for each 16 of its 64 products of e2m1, their exact sum times the two
// scales. A term's exponent is not normalised: with mxf8 the sum of those of two factors and two
// scales, with nvf4 that of two scales. A term without a product that is not zero, an accumulator
// of zero and, with nvf4, a scale of zero have the exponent z.
//
// The accumulator, which starts as C, and the T - 1 terms of a step are cut, toward zero, to F
// fraction bits below the largest exponent e. Their exact sum, rounded toward zero to R = 23
// fraction bits, becomes the accumulator. mxf8: F = 25, T = 33, z = -133. nvf4: F = 35, T = 5,
// z = -139.
//
// Bound. Let |t|' be the size of a term: with mxf8 |a|' |b|' times the scales, |x|' = max(|x|,
// least normal) where x is not 0; with nvf4 the larger of sum |a| |b| times the scales and
// 2^exponent. So 2^e <= max(|acc|', the largest |t|', 2^z), and as in reference/tensor_matmul.h,
// over q steps,
//   |D - exact| <= ((1 + r)^q - 1) S + q f (1 + r)^q,   S = |C| + sum |t|',
//   r = T 2^-F (1 + 2^-R) + 2^-R,   f = 2 (T 2^-F + 2^-R) 2^-126.
//
// Special values: a NaN among factors, scales or C gives a NaN; the class of a result that is not
// finite, or could overflow, is the model's. k = 0 gives C. Zero is +0 where there is a product.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "reference/tensor_matmul.h"

namespace lockstep::reference {

using RowMajorBytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

enum class Scaled : std::uint8_t {
  kMxf8,  // e4m3, one a byte; a scale of ue8m0 for 32 bytes
  kNvf4,  // e2m1, two a byte, the first in the low bits; a scale of ue4m3, without its sign, for 8
};

// A row of bytes, and its scales.
struct ScaledRows {
  RowMajorBytes elements, scales;
};

// a is m x k bytes, b is n x k, c is m x n; each row of scales has one for each 32 or 8 bytes that
// a row has or begins (asserted). The results' arrays are the m * n elements of D, row by row.
Bounded tensor_matmul_scaled(Scaled type, const ScaledRows& a, const ScaledRows& b,
                             const RowMajorD& c);
// The model's bits.
Eigen::ArrayXf tensor_matmul_scaled_model(Scaled type, const ScaledRows& a, const ScaledRows& b,
                                          const RowMajorD& c);

}  // namespace lockstep::reference
