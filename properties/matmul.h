// The matrix product's cases and laws. A law is a sentence about every case; it takes the implementation that it
// judges, so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "harness/values.h"
#include "kernels/matmul.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/matmul.h).
using Matmul = std::function<kernels::LaunchStatus(kernels::MatmulVariant, const kernels::MatrixView<const float>& a,
                                                   const kernels::MatrixView<const float>& b,
                                                   const kernels::MatrixView<float>& c, cudaStream_t)>;

struct MatmulCase {
  std::int64_t m = 0, n = 0, k = 0;
  kernels::MatmulVariant variant = kernels::MatmulVariant::kGlobal;
  int a_gap = 0, b_gap = 0, c_gap = 0;           // elements between the end of a row and the next
  int a_offset = 0, b_offset = 0, c_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values a_values, b_values;

  static void fields(MatmulCase& c, FieldVisitor& field);
  void normalise();

  // The operands on the host, dense: m x k and k x n elements, row by row.
  std::vector<float> a() const;
  std::vector<float> b() const;

  // Launches the implementation on device memory under the case's contract; dense operands in, dense m x n result out.
  // The elements between the rows of C must come back as they were.
  std::vector<float> launch(const Matmul& matmul, const std::vector<float>& a, const std::vector<float>& b) const;
  std::vector<float> launch(const Matmul& matmul) const { return launch(matmul, a(), b()); }

  // The thread that computes element i of the dense result.
  WhereIs where() const;

 protected:
  static constexpr std::int64_t kMost = 160;  // of each of m, n, k: several tiles of every size, and quick
  static inline const std::vector<ValueKind> kAnyValues = {ValueKind::kSmallIntegers, ValueKind::kIndex,
                                                           ValueKind::kUniform,       ValueKind::kMixed,
                                                           ValueKind::kWide,          ValueKind::kSpecial};
  static inline const std::vector<ValueKind> kExactValues = {ValueKind::kSmallIntegers, ValueKind::kOne,
                                                             ValueKind::kZero};

  static void fields_of(MatmulCase& c, FieldVisitor& field, const std::vector<ValueKind>& values,
                        const Domain<std::int64_t>& side);
};

// Small integers: every product and partial sum is exact in float.
struct ExactMatmulCase : MatmulCase {
  static void fields(ExactMatmulCase& c, FieldVisitor& field);
};

// Square operands.
struct SquareMatmulCase : MatmulCase {
  static void fields(SquareMatmulCase& c, FieldVisitor& field);
  void normalise();
};

// Sizes too large for the reference: sides up to 2,048, and no more products of elements than 256 x 256 x 256 has.
struct LargeMatmulCase : MatmulCase {
  static void fields(LargeMatmulCase& c, FieldVisitor& field);
  void normalise();
};

// All sides 2,048.
struct HugeMatmulCase : LargeMatmulCase {
  static void fields(HugeMatmulCase& c, FieldVisitor& field);
  void normalise() {}
};

// A case of moderate size, since it runs once a schedule.
struct ScheduledMatmulCase : MatmulCase {
  static void fields(ScheduledMatmulCase& c, FieldVisitor& field);
};

// A legal case with one argument made illegal.
struct RefusedMatmulCase : MatmulCase {
  enum class Mistake {
    kNegativeRows,
    kNegativeColumns,
    kShortStride,
    kInnerMismatch,
    kOuterMismatch,
    kNullInput,
    kNullOutput,
    kMisalignedInput,
    kMisalignedOutput,
    kOverlap,
    kHuge,
    kUnknownVariant
  };
  Mistake mistake = Mistake::kNegativeRows;
  static void fields(RefusedMatmulCase& c, FieldVisitor& field);
  void normalise();
};

void matmul_matches_its_reference(const Matmul& matmul, const MatmulCase& c);
void matmul_variants_agree_bit_for_bit(const Matmul& matmul, const MatmulCase& c);
void matmul_is_exact_on_small_integers(const Matmul& matmul, const ExactMatmulCase& c);
void matmul_by_the_identity_changes_nothing(const Matmul& matmul, const SquareMatmulCase& c);
void matmul_transposes(const Matmul& matmul, const MatmulCase& c);
void matmul_distributes_over_sums(const Matmul& matmul, const ExactMatmulCase& c);
void matmul_passes_freivalds_check(const Matmul& matmul, const LargeMatmulCase& c);
void matmul_is_deterministic(const Matmul& matmul, const ScheduledMatmulCase& c);
void matmul_refuses_bad_arguments(const Matmul& matmul, const RefusedMatmulCase& c);
void matmul_launches_nothing_for_no_work(const Matmul& matmul, const MatmulCase& c);

// All of them, in the order in which a suspect kernel meets them.
const std::vector<Law<Matmul>>& matmul_laws();

}  // namespace lockstep::properties
