// Cases of tensor_matmul: shapes, layout and values of a product, and the call of the
// implementation.
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

// Elements of any type as bits: dense, row by row.
using Elements = std::vector<std::uint64_t>;

int bytes_of(MatrixElement element);
// Bytes of an element of C and D: 4 or 8.
int result_bytes_of(MatrixElement element);
reference::Factor factor_of(MatrixElement element);

// The bits of a small number that the type represents exactly: of a factor, and of an element of C.
std::uint64_t bits_of(MatrixElement element, double value);
std::uint64_t result_bits_of(MatrixElement element, double value);
// The inverse of result_bits_of().
double result_of(MatrixElement element, std::uint64_t bits);

struct TensorMatmulCase {
  std::int64_t m = 0, n = 0, k = 0;
  TensorMatmulPath path = TensorMatmulPath::kWmma;
  MatrixElement element = MatrixElement::kF16;
  int a_alignment = 1,
      b_alignment =
          1;  // alignment in bytes of the first element and of the stride; at least the element's
  int a_gap = 0, b_gap = 0, c_gap = 0,
      d_gap = 0;  // the least number of elements between two rows
  int a_offset = 0, b_offset = 0, c_offset = 0,
      d_offset = 0;  // the most elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values a_values, b_values, c_values;

  // paths and elements: the possible ones.
  static void fields_of(TensorMatmulCase& c, FieldVisitor& field,
                        const Domain<TensorMatmulPath>& paths,
                        const Domain<MatrixElement>& elements, const std::vector<ValueKind>& values,
                        const Domain<std::int64_t>& side);
  // At most two sides are long.
  void normalise();
  // Of whole tiles and stages. A product by a warpgroup takes the simulated GPU longer.
  std::int64_t work() const;

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

  // Launches the implementation on device memory under the case's contract. Returns D, dense. The
  // elements between its rows must be unchanged.
  Elements launch(const TensorMatmul& matmul, const Elements& a, const Elements& b,
                  const Elements& c) const;
  Elements launch(const TensorMatmul& matmul) const { return launch(matmul, a(), b(), c()); }
};

// The launcher's call for the case, with its contract.
Call<TensorMatmul> tensor_matmul_call(const TensorMatmulCase& c);

// Fails the case unless D is within the reference's bound and equals the unit's model bit for bit.
void require_product(const TensorMatmulCase& c, const Elements& d, const Elements& a,
                     const Elements& b, const Elements& addend);

}  // namespace lockstep::properties
