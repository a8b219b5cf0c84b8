// Reference of the product with block scale, D = A * B + C: the value and the bound of every
// element, and a model of one sum. The model is published (MMA-Sim, arXiv 2511.10909); it has not
// been compared with silicon here.
//
// Neighbouring elements of a row of A and of B share a scale. A step processes 32 bytes of a row,
// and zeros after its end. Its terms with mxf8: each of its 32 products of e4m3, times the two
// scales. With nvf4: for each 16 of its 64 products of e2m1, their exact sum times the two scales.
// A term's exponent is not normalised: with mxf8 it is the sum of the exponents of two factors and
// two scales, with nvf4 of two scales. The exponent is z for a term without a nonzero product, for
// an accumulator of zero and, with nvf4, for a scale of zero.
//
// The accumulator, which starts as C, and the T - 1 terms of a step are cut, toward zero, to F
// fraction bits below the largest exponent e. Their exact sum, rounded toward zero to R = 23
// fraction bits, becomes the accumulator. mxf8: F = 25, T = 33, z = -133. nvf4: F = 35, T = 5, z =
// -139.
//
// Bound. Let |t|' be the size of a term. With mxf8 it is |a|' |b|' times the scales, |x|' =
// max(|x|, least normal) for x not 0. With nvf4 it is the larger of sum |a| |b| times the scales
// and 2^exponent. So 2^e <= max(|acc|', the largest |t|', 2^z), and as in
// reference/tensor_matmul.h, over q steps,
//   |D - exact| <= ((1 + r)^q - 1) S + q f (1 + r)^q,   S = |C| + sum |t|',
//   r = T 2^-F (1 + 2^-R) + 2^-R,   f = 2 (T 2^-F + 2^-R) 2^-126.
//
// Special values: a NaN among factors, scales or C results in NaN. The model determines the class
// of a result that is not finite or could overflow. With k = 0 the result is C. With a product, a
// zero result is +0.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "reference/tensor_matmul.h"

namespace lockstep::reference {

using RowMajorBytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

enum class Scaled : std::uint8_t {
  kMxf8,  // e4m3, one per byte; one scale of ue8m0 for 32 bytes
  kNvf4,  // e2m1, two per byte, the first in the low bits; one scale of ue4m3, without sign, for 8
          // bytes
};

// A row of bytes, and its scales.
struct ScaledRows {
  RowMajorBytes elements, scales;
};

// a is m x k bytes, b is n x k, c is m x n. Each row of scales has one for each 32 or 8 bytes of
// the row, including a last incomplete group (asserted). Returns the m * n elements of D, row by
// row.
Bounded tensor_matmul_scaled(Scaled type, const ScaledRows& a, const ScaledRows& b,
                             const RowMajorD& c);
// Returns the bits of the model.
Eigen::ArrayXf tensor_matmul_scaled_model(Scaled type, const ScaledRows& a, const ScaledRows& b,
                                          const RowMajorD& c);

}  // namespace lockstep::reference
