// C = alpha op(A) op(B) + beta C, for one matrix or a batch: what every gemm of cuBLAS and cuBLASLt
// comes to.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulator/libraries/cublas/access.h"
#include "simulator/libraries/cublas/product.h"

namespace lockstep::cublas {

// How a gemm computes.
struct Arithmetic {
  Type sums = Type::kF32;   // kF32, kF64, kC32, kC64, kI32
  Type scale = Type::kF32;  // of alpha and beta
  Rounding rounding = Rounding::kNone;
  bool sums_in_f16 = false;
};

// What cublasGemmEx supports for these types; false: nothing.
bool find_arithmetic(cublasComputeType_t compute, Type a, Type b, Type c, Arithmetic* result);

struct Gemm {
  Op op_a = Op::kNone, op_b = Op::kNone;
  std::int64_t k = 0;
  Matrix a, b, c;  // as they lie in memory; with `pointers`, `at` is an array of pointers
  Matrix d;        // of the result; d.at null: C
  Scalar alpha, beta;
  Arithmetic arithmetic;
  std::int64_t batch = 1;
  bool pointers = false;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  // Of cuBLASLt's FP8, in device memory: what alpha is multiplied by, what the results are
  // multiplied by before they are stored, and where their largest magnitude goes before that.
  std::vector<Scalar> factors, result_factors;
  void* largest = nullptr;

  std::int64_t m() const { return c.rows; }
  std::int64_t n() const { return c.columns; }
};

// What comes of the results of one matrix of a batch, m x n without gaps, before they are stored:
// the epilogues of cuBLASLt. Only for sums in float.
using Epilogue = std::function<void(Access&, std::int64_t batch, std::vector<float>& values)>;

// Executes it. With beta 0, C is not read; with alpha or k 0, neither are A and B.
void run(Access& access, const Gemm& gemm, const Epilogue& epilogue = {});

}  // namespace lockstep::cublas
