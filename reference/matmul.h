// Reference of the matrix product C = A * B in float: value and bound of every element.
//
// Declared chain of the kernels: sum = +0; for p = 0 ... k-1: sum = fma(A[i][p], B[p][j], sum), in
// float with subnormals.
//
// Bound. With S = (|A| |B|)[i][j], |C[i][j] - exact| <= gamma(k) S + k * 2^-150 (1 + gamma(k)). The
// first term passes through all k roundings, the others through fewer (Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd ed., (3.5) and (3.13); a fused multiply-add rounds once).
// Each result may underflow by half the smallest subnormal. k = 0 and S = 0 require exactly +0: no
// chain from +0 with terms of 0 results in -0. The double arithmetic here adds gamma_double(k) S
// (products of floats are exact in double).
//
// Small integers: if S < 2^24 and every element is an integer, all partial sums are exact in any
// order, and the bound is 0.
//
// Special values: if an operand is not finite, or S could overflow, the declared chain in float
// determines the class of the result. A finite result keeps the value and the bound above.
#pragma once

#include <Eigen/Core>

#include "reference/bounded.h"

namespace lockstep::reference {

using RowMajorF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// a is m x k, b is k x n (asserted). Returns the m * n elements of C, row by row.
Bounded matmul(const Eigen::Ref<const RowMajorF>& a, const Eigen::Ref<const RowMajorF>& b);

// Executes the declared chain, operation by operation in float. Returns the bits of every element
// of C, row by row.
Eigen::ArrayXf matmul_chain(const Eigen::Ref<const RowMajorF>& a,
                            const Eigen::Ref<const RowMajorF>& b);

// Freivalds' check, for sizes at which the reference is too slow (Freivalds, Information Processing
// 77, 1977). With a random vector r of +-1, it compares C r with A (B r), at a cost of O(m n + n k
// + m k). Returns for each row i the residual |(C r - A (B r))[i]| and its bound: the sum over j of
// the bounds above, plus double's own rounding. In exact arithmetic, a wrong C passes one round
// with probability at most 1/2.
Bounded freivalds_residual(const Eigen::Ref<const RowMajorF>& a,
                           const Eigen::Ref<const RowMajorF>& b,
                           const Eigen::Ref<const RowMajorF>& c, std::uint64_t seed);

}  // namespace lockstep::reference
