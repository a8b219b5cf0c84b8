// The product of two matrices: the arithmetic of every gemm.
//
// Each element is a chain of fused multiply-adds in the order of k, starting from zero, in the
// computing type: |error| <= k u sum |a b|, where u is half an ulp of 1 in that type (Higham,
// "Accuracy and Stability of Numerical Algorithms", 3.1). A GPU sums in another order within the
// same bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/libraries/cublas/elements.h"

namespace lockstep::cublas {

enum class Op { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };

// Rounds the elements of A and B before the multiplication.
enum class Rounding { kNone, kF16, kBF16, kTF32 };

// op(A) of a column-major matrix in memory.
struct Operand {
  const std::byte* at = nullptr;
  Type type = Type::kF32;
  std::int64_t ld = 0;  // elements from column to column
  Op op = Op::kNone;
};

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  Rounding rounding = Rounding::kNone;
  // Rounds the sums to f16 after each 16 steps, like a tensor core that accumulates in f16.
  bool sums_in_f16 = false;
};

// op(A) op(B): m x n elements, column-major without gaps.
template <class T>
std::vector<T> product(const ProductShape& shape, const Operand& a, const Operand& b);

extern template std::vector<float> product(const ProductShape&, const Operand&, const Operand&);
extern template std::vector<double> product(const ProductShape&, const Operand&, const Operand&);
extern template std::vector<C32> product(const ProductShape&, const Operand&, const Operand&);
extern template std::vector<C64> product(const ProductShape&, const Operand&, const Operand&);
extern template std::vector<std::int32_t> product(const ProductShape&, const Operand&,
                                                  const Operand&);

}  // namespace lockstep::cublas
