// Reference of the matrix product C = A * B in float: value and bound of every element.
//
// Declared chain of the kernels: sum = +0; for p = 0 ... k-1: sum = fma(A[i][p], B[p][j], sum), in
// float with subnormals.
//
// Bound. With S = (|A| |B|)[i][j], |C[i][j] - exact| <= gamma(k) S + k * 2^-150 (1 + gamma(k)): the
// first term goes through all k roundings, the others through fewer (Higham, Accuracy and Stability
// of Numerical Algorithms, 2nd ed., (3.5) and (3.13); a fused multiply-add rounds once), and each
// result may underflow by half the smallest subnormal. k = 0 and S = 0 demand exactly +0: no chain
// that starts from +0 with terms of 0 gives -0. The double arithmetic here adds gamma_double(k) S
// (products of floats are exact in double).
//
// Small integers: where S < 2^24 and every element is an integer, all partial sums are exact,
// whatever their order, and the bound is 0.
//
// Special values. Where an operand is not finite, or S could overflow, the class of the result is
// what the declared chain gives in float; a finite result keeps value and bound from above.
#pragma once

#include <Eigen/Core>

#include "reference/bounded.h"

namespace lockstep::reference {

using RowMajorF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// a is m x k, b is k x n (asserted); the result's arrays are the m * n elements of C, row by row.
Bounded matmul(const Eigen::Ref<const RowMajorF>& a, const Eigen::Ref<const RowMajorF>& b);

// The declared chain itself, operation by operation in float: the bits of every element of C, row
// by row.
Eigen::ArrayXf matmul_chain(const Eigen::Ref<const RowMajorF>& a,
                            const Eigen::Ref<const RowMajorF>& b);

// Freivalds' check for sizes where computing the reference is too slow (Freivalds, Information
// Processing 77, 1977): with a random vector r of +-1, C r is compared with A (B r), at a cost of
// O(m n + n k + m k). Row i's residual |(C r
// - A (B r))[i]| and its bound, the sum over j of the bounds above plus double's own rounding; a
//   wrong C passes one round with probability at most 1/2 when exact.
Bounded freivalds_residual(const Eigen::Ref<const RowMajorF>& a,
                           const Eigen::Ref<const RowMajorF>& b,
                           const Eigen::Ref<const RowMajorF>& c, std::uint64_t seed);

}  // namespace lockstep::reference
