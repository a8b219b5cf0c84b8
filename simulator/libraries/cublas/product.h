// The product of two matrices: the arithmetic of every gemm.
//
// Each element is one chain of sums in the order of k, starting at zero. Each step is a fused
// multiply-add in the computation type: |error| <= k u sum |a b|, with u half an ulp of 1 in that
// type (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1). A GPU sums in another
// order, within the same bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/libraries/cublas/elements.h"

namespace lockstep::cublas {

enum class Op { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };

// The rounding of the elements of A and B before they are multiplied.
enum class Rounding { kNone, kF16, kBF16, kTF32 };

// op(A), column-major, with its layout in memory.
struct Operand {
  const std::byte* at = nullptr;
  Type type = Type::kF32;
  std::int64_t ld = 0;  // elements between columns
  Op op = Op::kNone;
};

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  Rounding rounding = Rounding::kNone;
  // The sums are rounded to f16 after each 16 steps, as in a tensor core with f16 sums.
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
