// Cases of tensor_matmul: shapes, layout and values of a product, and how the implementation is
// called with it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/contract.h"
#include "harness/property/field.h"
#include "harness/property/values.h"
#include "properties/tensor_matmul.h"
#include "reference/tensor_matmul.h"

namespace lockstep::properties {

using kernels::MatrixElement;
using kernels::TensorMatmulPath;

// Elements of any type, as bits: dense, row by row.
using Elements = std::vector<std::uint64_t>;

int bytes_of(MatrixElement element);
// Of C and D: 4 or 8.
int result_bytes_of(MatrixElement element);
reference::Factor factor_of(MatrixElement element);

// Bits of a small number that the type has exactly, of a factor and of an element of C.
std::uint64_t bits_of(MatrixElement element, double value);
std::uint64_t result_bits_of(MatrixElement element, double value);
// And back.
double result_of(MatrixElement element, std::uint64_t bits);

struct TensorMatmulCase {
  std::int64_t m = 0, n = 0, k = 0;
  TensorMatmulPath path = TensorMatmulPath::kWmma;
  MatrixElement element = MatrixElement::kF16;
  int a_alignment = 1,
      b_alignment = 1;  // bytes: of the first element, and of the stride; or the element's
  int a_gap = 0, b_gap = 0, c_gap = 0,
      d_gap = 0;  // elements between the end of a row and the next, at least
  int a_offset = 0, b_offset = 0, c_offset = 0,
      d_offset = 0;  // elements past a 256-byte boundary, at most
  Poison poison = Poison::kNaN;
  Values a_values, b_values, c_values;

  // paths and elements: which of them there are.
  static void fields_of(TensorMatmulCase& c, FieldVisitor& field,
                        const Domain<TensorMatmulPath>& paths,
                        const Domain<MatrixElement>& elements, const std::vector<ValueKind>& values,
                        const Domain<std::int64_t>& side);
  // At most two sides are long.
  void normalise();

  // Elements from a row to the next.
  std::int64_t a_stride() const { return aligned(k + a_gap, a_alignment); }
  std::int64_t b_stride() const { return aligned(k + b_gap, b_alignment); }
  std::int64_t c_stride() const { return n + c_gap; }
  std::int64_t d_stride() const { return n + d_gap; }
  std::int64_t aligned(std::int64_t elements, int alignment) const;

  // The operands, and another matrix of B's shape.
  Elements a() const;
  Elements b() const;
  Elements c() const;
  Elements other_b() const;

  // Launches the implementation on device memory under the case's contract: D, dense. The elements
  // between its rows must come back as they were.
  Elements launch(const TensorMatmul& matmul, const Elements& a, const Elements& b,
                  const Elements& c) const;
  Elements launch(const TensorMatmul& matmul) const { return launch(matmul, a(), b(), c()); }
};

// What the launcher is called with, and its contract.
Call<TensorMatmul> tensor_matmul_call(const TensorMatmulCase& c);

// Fails the case unless D is what the reference says: within its bound, then bit for bit what the
// model of the unit gives.
void require_product(const TensorMatmulCase& c, const Elements& d, const Elements& a,
                     const Elements& b, const Elements& addend);

}  // namespace lockstep::properties
