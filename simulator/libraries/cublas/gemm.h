// C = alpha op(A) op(B) + beta C for one matrix or a batch: the computation behind every gemm of
// cuBLAS and cuBLASLt.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulator/libraries/cublas/access.h"
#include "simulator/libraries/cublas/product.h"

namespace lockstep::cublas {

// The types in which a gemm computes.
struct Arithmetic {
  Type sums = Type::kF32;   // kF32, kF64, kC32, kC64, kI32
  Type scale = Type::kF32;  // type of alpha and beta
  Rounding rounding = Rounding::kNone;
  bool sums_in_f16 = false;
};

// The arithmetic that cublasGemmEx supports for these types; false if it supports none.
bool find_arithmetic(cublasComputeType_t compute, Type a, Type b, Type c, Arithmetic* result);

struct Gemm {
  Op op_a = Op::kNone, op_b = Op::kNone;
  std::int64_t k = 0;
  Matrix a, b, c;  // in memory; if `pointers` is set, `at` is an array of pointers
  Matrix d;        // the result; if d.at is null, C is the result
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

// Changes the results of one matrix of a batch, m x n without gaps, before they are stored: the
// epilogues of cuBLASLt. Only for sums in float.
using Epilogue = std::function<void(Access&, std::int64_t batch, std::vector<float>& values)>;

// Executes the gemm. If beta is 0, C is not read. If alpha or k is 0, A and B are not read.
void run(Access& access, const Gemm& gemm, const Epilogue& epilogue = {});

}  // namespace lockstep::cublas
