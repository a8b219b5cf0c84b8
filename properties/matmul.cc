#include "properties/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/property.h"
#include "harness/refusal.h"
#include "harness/rows.h"
#include "properties/no_launch.h"
#include "reference/matmul.h"

namespace lockstep::properties {
namespace {

using kernels::MatmulVariant;
using kernels::MatrixView;
using ConstMap = Eigen::Map<const reference::RowMajorF>;

// Streams of make_values(): one an array.
enum Stream : std::uint64_t { kA, kB, kOther };

// Equal as numbers, and NaN where the other is NaN.
bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

reference::Bounded expected(const MatmulCase& c, const std::vector<float>& a, const std::vector<float>& b) {
  return reference::matmul(ConstMap(a.data(), c.m, c.k), ConstMap(b.data(), c.k, c.n));
}

// A dense matrix with `gap` elements of NaN, which nothing may use, between its rows.
std::vector<float> spread(const std::vector<float>& dense, std::int64_t rows, std::int64_t columns, int gap) {
  const std::int64_t stride = columns + gap;
  std::vector<float> wide(rows * stride, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(dense.begin() + i * columns, columns, wide.begin() + i * stride);
  return wide;
}

std::vector<float> transposed(const std::vector<float>& dense, std::int64_t rows, std::int64_t columns) {
  std::vector<float> out(dense.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) out[j * rows + i] = dense[i * columns + j];
  }
  return out;
}

int block_side(MatmulVariant variant) {
  return variant == MatmulVariant::kTiled8 ? 8 : variant == MatmulVariant::kTiled32 ? 32 : 16;
}

}  // namespace

void MatmulCase::fields(MatmulCase& c, FieldVisitor& field) { fields_of(c, field, kAnyValues, sizes(0, kMost)); }

void MatmulCase::fields_of(MatmulCase& c, FieldVisitor& field, const std::vector<ValueKind>& values,
                           const Domain<std::int64_t>& side) {
  using enum kernels::MatmulVariant;
  field("m", c.m, side);
  field("n", c.n, side);
  field("k", c.k, side);
  field("variant", c.variant,
        choice<kernels::MatmulVariant>(
            {{"global", kGlobal}, {"tiled8", kTiled8}, {"tiled16", kTiled16}, {"tiled32", kTiled32}}));
  field("a_gap", c.a_gap, range(0, 9));
  field("b_gap", c.b_gap, range(0, 9));
  field("c_gap", c.c_gap, range(0, 9));
  field("a_offset", c.a_offset, range(0, 31));
  field("b_offset", c.b_offset, range(0, 31));
  field("c_offset", c.c_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("a_values", c.a_values, values_of(values));
  field("b_values", c.b_values, values_of(values));
}

void ExactMatmulCase::fields(ExactMatmulCase& c, FieldVisitor& field) {
  fields_of(c, field, kExactValues, sizes(0, kMost));
}

void SquareMatmulCase::fields(SquareMatmulCase& c, FieldVisitor& field) {
  fields_of(c, field, {ValueKind::kSmallIntegers, ValueKind::kUniform, ValueKind::kWide}, sizes(0, kMost));
}

void LargeMatmulCase::fields(LargeMatmulCase& c, FieldVisitor& field) {
  fields_of(c, field, {ValueKind::kSmallIntegers, ValueKind::kUniform},
            one_of<std::int64_t>({1, 31, 32, 33, 64, 65, 128, 333, 512, 1023, 1025, 2047, 2048}));
}

void HugeMatmulCase::fields(HugeMatmulCase& c, FieldVisitor& field) {
  fields_of(c, field, {ValueKind::kUniform}, one_of<std::int64_t>({2048}));
}

void ScheduledMatmulCase::fields(ScheduledMatmulCase& c, FieldVisitor& field) {
  fields_of(c, field, kAnyValues, sizes(0, 48));
}

void RefusedMatmulCase::fields(RefusedMatmulCase& c, FieldVisitor& field) {
  using enum Mistake;
  fields_of(c, field, kExactValues, sizes(0, 64));
  field("mistake", c.mistake,
        choice<Mistake>({{"negative_rows", kNegativeRows},
                         {"negative_columns", kNegativeColumns},
                         {"short_stride", kShortStride},
                         {"inner_mismatch", kInnerMismatch},
                         {"outer_mismatch", kOuterMismatch},
                         {"null_input", kNullInput},
                         {"null_output", kNullOutput},
                         {"misaligned_input", kMisalignedInput},
                         {"misaligned_output", kMisalignedOutput},
                         {"overlap", kOverlap},
                         {"huge", kHuge},
                         {"unknown_variant", kUnknownVariant}}));
}

// At most two sides are long: a product of three long ones is most of a run's time and shows nothing new.
void MatmulCase::normalise() {
  constexpr std::int64_t kLong = 80;
  if (m > kLong && n > kLong && k > kLong) k = kLong;
}

void LargeMatmulCase::normalise() {
  constexpr std::int64_t kMostProducts = 1 << 24;
  if (m * n * k <= kMostProducts) return;
  // The longest inner side of the list that the product still allows.
  for (const std::int64_t side : {1025, 1023, 512, 333, 128, 65, 64, 33, 32, 31, 1}) {
    k = side;
    if (m * n * k <= kMostProducts) return;
  }
}

void SquareMatmulCase::normalise() { n = k = m = std::min<std::int64_t>(m, 96); }

void RefusedMatmulCase::normalise() {
  m = std::max<std::int64_t>(m, 1);
  n = std::max<std::int64_t>(n, 1);
  k = std::max<std::int64_t>(k, 1);
}

std::vector<float> MatmulCase::a() const { return make_values<float>(a_values, m * k, kA); }
std::vector<float> MatmulCase::b() const { return make_values<float>(b_values, k * n, kB); }

std::vector<float> MatmulCase::launch(const Matmul& matmul, const std::vector<float>& a,
                                      const std::vector<float>& b) const {
  const auto in_a =
      DeviceArray<float>::input("A", spread(a, m, k, a_gap), {.misalignment = a_offset, .poison = poison});
  const auto in_b =
      DeviceArray<float>::input("B", spread(b, k, n, b_gap), {.misalignment = b_offset, .poison = poison});
  const std::int64_t stride = n + c_gap;
  const auto out = DeviceArray<float>::output("C", m * stride, {.misalignment = c_offset, .poison = poison});
  REQUIRE_CUDA(matmul(variant, {in_a.data(), m, k, k + a_gap}, {in_b.data(), k, n, n + b_gap},
                      {out.data(), m, n, stride}, nullptr));
  return fetch_rows(out, m, n, stride);
}

WhereIs MatmulCase::where() const {
  const std::int64_t side = block_side(variant), across = n == 0 ? 1 : (n - 1) / side + 1;
  return [side, across, n = n](std::size_t e) {
    const auto i = static_cast<std::int64_t>(e) / n, j = static_cast<std::int64_t>(e) % n;
    return Origin{.block = static_cast<std::uint64_t>(i / side * across + j / side),
                  .thread = static_cast<std::uint32_t>(i % side * side + j % side)};
  };
}

void matmul_matches_its_reference(const Matmul& matmul, const MatmulCase& c) {
  REQUIRE_WITHIN_BOUND(c.launch(matmul), expected(c, c.a(), c.b()), c.where());
}

void matmul_variants_agree_bit_for_bit(const Matmul& matmul, const MatmulCase& c) {
  MatmulCase variant = c;
  variant.variant = MatmulVariant::kGlobal;
  const std::vector<float> first = variant.launch(matmul);
  for (const auto other : {MatmulVariant::kTiled8, MatmulVariant::kTiled16, MatmulVariant::kTiled32}) {
    variant.variant = other;
    REQUIRE_BITWISE_EQUAL(variant.launch(matmul), first, variant.where());
  }
}

void matmul_is_exact_on_small_integers(const Matmul& matmul, const ExactMatmulCase& c) {
  const Eigen::ArrayXf exact = expected(c, c.a(), c.b()).value.cast<float>();
  REQUIRE_BITWISE_EQUAL(c.launch(matmul), std::vector<float>(exact.begin(), exact.end()), c.where());
}

void matmul_by_the_identity_changes_nothing(const Matmul& matmul, const SquareMatmulCase& c) {
  std::vector<float> identity(c.m * c.m);
  for (std::int64_t i = 0; i < c.m; ++i) identity[i * c.m + i] = 1;
  const std::vector<float> a = c.a(), right = c.launch(matmul, a, identity), left = c.launch(matmul, identity, a);
  for (std::size_t e = 0; e < a.size(); ++e) {
    REQUIRE_LAW(same(right[e], a[e]), "(A I)[{}] is {}, but A[{}] is {}", e, right[e], e, a[e]);
    REQUIRE_LAW(same(left[e], a[e]), "(I A)[{}] is {}, but A[{}] is {}", e, left[e], e, a[e]);
  }
}

// The products of the two chains are the same, in the same order, with their factors exchanged: the bits agree.
void matmul_transposes(const Matmul& matmul, const MatmulCase& c) {
  const std::vector<float> product = c.launch(matmul);
  MatmulCase other = c;
  std::swap(other.m, other.n);
  const std::vector<float> mirrored = other.launch(matmul, transposed(c.b(), c.k, c.n), transposed(c.a(), c.m, c.k));
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      const float here = product[i * c.n + j], there = mirrored[j * c.m + i];
      REQUIRE_LAW(same(here, there), "(A B)[{}][{}] is {}, but (B' A')[{}][{}] is {}", i, j, here, j, i, there);
    }
  }
}

void matmul_distributes_over_sums(const Matmul& matmul, const ExactMatmulCase& c) {
  const std::vector<float> a = c.a(), b = c.b(), other = make_values<float>(c.b_values, b.size(), kOther);
  std::vector<float> both(b.size());
  std::ranges::transform(b, other, both.begin(), std::plus<>());
  const std::vector<float> of_b = c.launch(matmul, a, b), of_other = c.launch(matmul, a, other),
                           of_both = c.launch(matmul, a, both);
  for (std::size_t e = 0; e < of_both.size(); ++e) {
    REQUIRE_LAW(of_both[e] == of_b[e] + of_other[e], "(A (B + D))[{}] is {}, but A B + A D is {}", e, of_both[e],
                of_b[e] + of_other[e]);
  }
}

void matmul_passes_freivalds_check(const Matmul& matmul, const LargeMatmulCase& c) {
  const std::vector<float> a = c.a(), b = c.b(), product = c.launch(matmul, a, b);
  constexpr int kRounds = 4;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto residual = reference::freivalds_residual(ConstMap(a.data(), c.m, c.k), ConstMap(b.data(), c.k, c.n),
                                                        ConstMap(product.data(), c.m, c.n), c.a_values.seed + round);
    for (Eigen::Index i = 0; i < residual.value.size(); ++i) {
      REQUIRE_LAW(std::abs(residual.value(i)) <= residual.bound(i),
                  "row {}: (C r - A (B r)) is {:g}, but its bound is {:g}", i, residual.value(i), residual.bound(i));
    }
  }
}

void matmul_is_deterministic(const Matmul& matmul, const ScheduledMatmulCase& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch(matmul); });
}

void matmul_refuses_bad_arguments(const Matmul& matmul, const RefusedMatmulCase& c) {
  using enum RefusedMatmulCase::Mistake;
  const auto in_a = DeviceArray<float>::input("A", c.a(), {.misalignment = c.a_offset, .poison = c.poison});
  const auto in_b = DeviceArray<float>::input("B", c.b(), {.misalignment = c.b_offset, .poison = c.poison});
  const auto out = DeviceArray<float>::output("C", c.m * c.n, {.misalignment = c.c_offset, .poison = c.poison});
  MatrixView<const float> a = {in_a.data(), c.m, c.k, c.k}, b = {in_b.data(), c.k, c.n, c.n};
  MatrixView<float> product = {out.data(), c.m, c.n, c.n};
  MatmulVariant variant = c.variant;
  switch (c.mistake) {
    case kNegativeRows:
      a.rows = product.rows = -c.m;
      break;
    case kNegativeColumns:
      b.columns = product.columns = -c.n;
      break;
    case kShortStride:
      b.stride = c.n - 1;
      break;
    case kInnerMismatch:
      b.rows = c.k + 1;
      break;
    case kOuterMismatch:
      product.rows = c.m + 1;
      break;
    case kNullInput:
      a.data = nullptr;
      break;
    case kNullOutput:
      product.data = nullptr;
      break;
    case kMisalignedInput:
      b.data = shifted_by_bytes(b.data, 2);
      break;
    case kMisalignedOutput:
      product.data = shifted_by_bytes(product.data, 1);
      break;
    case kOverlap:
      product.data = const_cast<float*>(a.data) + (c.m * c.k - 1);
      break;
    case kHuge:
      a.rows = product.rows = std::numeric_limits<std::int64_t>::max() / 2;
      break;
    case kUnknownVariant:
      variant = static_cast<MatmulVariant>(4);
      break;
  }
  REQUIRE_REFUSED(matmul(variant, a, b, product, nullptr));
  REQUIRE_UNTOUCHED(out);
}

void matmul_launches_nothing_for_no_work(const Matmul& matmul, const MatmulCase& c) {
  require_no_launch([&](cudaStream_t stream) {
    for (const auto& [m, n] : {std::pair{std::int64_t{0}, c.n}, std::pair{c.m, std::int64_t{0}}}) {
      const auto status = matmul(c.variant, {nullptr, m, 0, 0}, {nullptr, 0, n, n}, {nullptr, m, n, n}, stream);
      REQUIRE_LAW(status.ok(), "{} x {} is legal, but the launcher answers: {}", m, n, status.message);
    }
  });
}

const std::vector<Law<Matmul>>& matmul_laws() {
  static const std::vector<Law<Matmul>> laws = {
      law("LaunchesNothingForNoWork", matmul_launches_nothing_for_no_work, 4),
      law("RefusesBadArguments", matmul_refuses_bad_arguments, 4),
      law("MatchesItsReference", matmul_matches_its_reference),
      law("VariantsAgreeBitForBit", matmul_variants_agree_bit_for_bit, 4),
      law("IsExactOnSmallIntegers", matmul_is_exact_on_small_integers),
      law("ByTheIdentityChangesNothing", matmul_by_the_identity_changes_nothing),
      law("Transposes", matmul_transposes, 2),
      law("DistributesOverSums", matmul_distributes_over_sums, 3),
      law("PassesFreivaldsCheck", matmul_passes_freivalds_check, 30),
      law("IsDeterministic", matmul_is_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
