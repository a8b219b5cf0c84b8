// The stencil's cases and laws. A law is a statement about every case. It takes the implementation
// under test as an argument, so that a broken or rewritten kernel can replace the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/contract.h"
#include "harness/property/field.h"
#include "harness/property/values.h"
#include "kernels/stencil.h"
#include "properties/law.h"

namespace lockstep::properties {

// A function with the launcher's signature and contract (kernels/stencil.h).
using Stencil = std::function<decltype(kernels::stencil_1d)>;

struct StencilCase {
  std::int64_t n = 0;
  int block = 32;
  int max_blocks = kUnlimited;
  kernels::StencilBoundary boundary = kernels::StencilBoundary::kZero;
  kernels::StencilVariant variant = kernels::StencilVariant::kConstant;
  int x_offset = 0, y_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values coefficients, values;

  static void fields(StencilCase& c, FieldVisitor& field);
  void normalise();
  std::int64_t work() const { return n * kernels::kStencilRadius; }

  // The data on the host: x, with its halo if the boundary is padded, and the coefficients. c[0] is
  // a NaN or a huge number, which must not be used.
  std::vector<float> x() const;
  kernels::StencilCoefficients c() const;

  // Launches the implementation on device memory under the case's contract. `x` has the form of
  // x().
  DeviceArray<float> launch(const Stencil& stencil, std::span<const float> x,
                            const kernels::StencilCoefficients& c) const;
  DeviceArray<float> launch(const Stencil& stencil) const { return launch(stencil, x(), c()); }

  int halo() const {
    return boundary == kernels::StencilBoundary::kPadded ? kernels::kStencilRadius : 0;
  }
  // The thread that computes element i.
  WhereIs where() const { return tiles_of_blocks(n, block, max_blocks, kernels::kStencilItems); }

 protected:
  static inline const std::vector<ValueKind> kAnyValues = {
      ValueKind::kSmallIntegers, ValueKind::kIndex, ValueKind::kUniform,
      ValueKind::kMixed,         ValueKind::kWide,  ValueKind::kSpecial};
  static inline const std::vector<ValueKind> kExactValues = {ValueKind::kSmallIntegers};
  static inline const std::vector<ValueKind> kTameValues = {ValueKind::kSmallIntegers,
                                                            ValueKind::kUniform};

  static void fields_of(StencilCase& c, FieldVisitor& field,
                        const std::vector<ValueKind>& coefficients,
                        const std::vector<ValueKind>& values, std::int64_t most = 1 << 20);
};

// Small integers: every difference, product and partial sum is exact in float.
struct ExactStencilCase : StencilCase {
  static void fields(ExactStencilCase& c, FieldVisitor& field);
};

// Exact values, and the factors of a * x + b * z.
struct LinearStencilCase : ExactStencilCase {
  int a = 1, b = 1;
  static void fields(LinearStencilCase& c, FieldVisitor& field);
};

// Values far from overflow and underflow, and the exponent of a power of two that scales them.
struct ScaledStencilCase : StencilCase {
  int exponent = 0;
  static void fields(ScaledStencilCase& c, FieldVisitor& field);
};

// A constant signal; the constant is the first of `values`.
struct ConstantStencilCase : StencilCase {
  static void fields(ConstantStencilCase& c, FieldVisitor& field);
};

// A signal, and the number of elements by which it is shifted.
struct ShiftedStencilCase : StencilCase {
  int shift = 1;
  static void fields(ShiftedStencilCase& c, FieldVisitor& field);
};

// Samples of a random polynomial, including the halo; `values` defines its coefficients.
struct PolynomialStencilCase : StencilCase {
  int degree = 0;
  static void fields(PolynomialStencilCase& c, FieldVisitor& field);
  void normalise();
};

// A case of moderate size, because it runs once per schedule.
struct ScheduledStencilCase : StencilCase {
  static void fields(ScheduledStencilCase& c, FieldVisitor& field);
};

// The launcher's call for the case, with its contract.
Call<Stencil> stencil_call(const StencilCase& c);
// The same with other contents of x, of the length of c.x().
Call<Stencil> stencil_call_with(const StencilCase& c, std::function<std::vector<float>()> contents,
                                const kernels::StencilCoefficients& coefficients);

// In the order in which mutants are judged.
Laws<Stencil> stencil_laws();

}  // namespace lockstep::properties
