#include "properties/stencil.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "properties/contract_laws.h"
#include "properties/stencil_roundings.h"
#include "properties/streams.h"
#include "reference/stencil.h"

namespace lockstep::properties {
namespace {

using kernels::kStencilRadius;
using kernels::StencilBoundary;
using kernels::StencilCoefficients;
using kernels::StencilShape;
using kernels::StencilVariant;

// Streams of make_values(): one per array.
enum Stream : std::uint64_t { kX, kC, kZ };

reference::Boundary policy(StencilBoundary boundary) {
  switch (boundary) {
    case StencilBoundary::kPadded: return reference::Boundary::kPadded;
    case StencilBoundary::kZero: return reference::Boundary::kZero;
    case StencilBoundary::kClamp: return reference::Boundary::kClamp;
    case StencilBoundary::kPeriodic: return reference::Boundary::kPeriodic;
  }
  throw std::logic_error("a boundary policy without a reference");
}

reference::Bounded expected(const StencilCase& c, std::span<const float> x) {
  return reference::stencil_1d(x, c.c(), policy(c.boundary));
}

// The elements whose neighbours are all inside the signal, for every policy: [first, n - first).
std::int64_t interior(const StencilCase& c) {
  return c.boundary == StencilBoundary::kPadded ? 0 : kStencilRadius;
}

// Equal as numbers, or both NaN.
bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void StencilCase::fields(StencilCase& c, FieldVisitor& field) {
  fields_of(c, field, kAnyValues, kAnyValues);
}

void StencilCase::fields_of(StencilCase& c, FieldVisitor& field,
                            const std::vector<ValueKind>& coefficients,
                            const std::vector<ValueKind>& values, std::int64_t most) {
  using enum kernels::StencilVariant;
  using enum kernels::StencilBoundary;
  field("n", c.n, sizes(0, most));
  field("block", c.block,
        one_of<int>({32, 64, 128, 256, 512, 1024, 96, 224, 992, 1, 2, 3, 7, 8, 9, 31, 33, 1000}));
  field("max_blocks", c.max_blocks,
        choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"5", 5}}));
  field("boundary", c.boundary,
        choice<kernels::StencilBoundary>(
            {{"zero", kZero}, {"clamp", kClamp}, {"periodic", kPeriodic}, {"padded", kPadded}}));
  field("variant", c.variant,
        choice<kernels::StencilVariant>(
            {{"constant", kConstant}, {"global", kGlobal}, {"read_only", kReadOnly}}));
  field("x_offset", c.x_offset, range(0, 31));
  field("y_offset", c.y_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("coefficients", c.coefficients, values_of(coefficients));
  field("values", c.values, values_of(values));
}

void ExactStencilCase::fields(ExactStencilCase& c, FieldVisitor& field) {
  fields_of(c, field, kExactValues, kExactValues);
}

void LinearStencilCase::fields(LinearStencilCase& c, FieldVisitor& field) {
  ExactStencilCase::fields(c, field);
  field("a", c.a, range(-4, 4));
  field("b", c.b, range(-4, 4));
}

void ScaledStencilCase::fields(ScaledStencilCase& c, FieldVisitor& field) {
  fields_of(c, field, kTameValues, kTameValues);
  field("exponent", c.exponent, range(-30, 30));
}

void ConstantStencilCase::fields(ConstantStencilCase& c, FieldVisitor& field) {
  const std::vector<ValueKind> finite = {ValueKind::kSmallIntegers, ValueKind::kUniform,
                                         ValueKind::kWide};
  fields_of(c, field, finite, finite);
}

void ShiftedStencilCase::fields(ShiftedStencilCase& c, FieldVisitor& field) {
  StencilCase::fields(c, field);
  field("shift", c.shift, range(0, 40));
}

void PolynomialStencilCase::fields(PolynomialStencilCase& c, FieldVisitor& field) {
  fields_of(c, field, kExactValues, kTameValues);
  field("degree", c.degree, range(0, 8));
}

void ScheduledStencilCase::fields(ScheduledStencilCase& c, FieldVisitor& field) {
  fields_of(c, field, kAnyValues, kAnyValues, 1 << 12);
}

void StencilCase::normalise() {
  // A million elements in one block would dominate a run's time and test no more than a thousand.
  if (n > 1 << 14) max_blocks = kUnlimited;
  if (n > 1 << 12 && block < 32) block = 33;
}

std::vector<float> StencilCase::x() const { return make_values<float>(values, n + 2 * halo(), kX); }

StencilCoefficients StencilCase::c() const {
  // Every second case has no NaN. NaN differs from itself, and a launcher may compare coefficients
  // with earlier ones.
  StencilCoefficients c = {coefficients.seed % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                      : 0x1p120f};
  std::ranges::copy(make_values<float>(coefficients, kStencilRadius, kC), c.begin() + 1);
  return c;
}

Call<Stencil> stencil_call_with(const StencilCase& c, std::function<std::vector<float>()> contents,
                                const StencilCoefficients& k) {
  Call<Stencil> call("stencil_1d");
  call.ordered_by_callers();
  auto& [variant, x, n, y, coefficients, boundary, shape] =
      call.arguments(c.variant, nullptr, c.n, nullptr, k, c.boundary,
                     StencilShape{.block = c.block, .max_blocks = c.max_blocks});
  call.choice("variant", StencilVariant::kReadOnly, variant);
  call.own_kernels("variant");
  call.integer("n", {0, std::numeric_limits<std::int64_t>::max() / 4 - 2 * kStencilRadius}, n);
  call.choice("boundary", StencilBoundary::kPeriodic, boundary);
  call.integer("block", {1, 1024}, shape.block);
  call.integer("max_blocks", {1, kUnlimited}, shape.max_blocks);
  const std::int64_t tile = std::int64_t{c.block} * kernels::kStencilItems,
                     blocks = std::min<std::int64_t>((c.n + tile - 1) / tile, c.max_blocks);
  call.grid({.threads = c.block, .least_blocks = blocks, .most_blocks = blocks});
  call.input("x", x, {.count = c.n, .before = c.halo(), .after = c.halo()}, {c.x_offset, c.poison},
             std::move(contents));
  call.output<float>("y", y, {.count = c.n}, {c.y_offset, c.poison});
  call.apart("x", "y");
  for (const char* const argument : {"variant", "block", "max_blocks"}) call.immaterial(argument);
  if (c.max_blocks == kUnlimited)
    call.lengthens("n", tile, Whole{tile} * kUnlimited, {{"x"}, {"y"}});
  return call;
}

Call<Stencil> stencil_call(const StencilCase& c) {
  return stencil_call_with(
      c, [&c] { return c.x(); }, c.c());
}

DeviceArray<float> StencilCase::launch(const Stencil& stencil, std::span<const float> x,
                                       const StencilCoefficients& c) const {
  const auto contents = [x] { return std::vector<float>(x.begin(), x.end()); };
  return stencil_call_with(*this, contents, c).run(stencil).take<float>("y");
}

void PolynomialStencilCase::normalise() {
  boundary = StencilBoundary::kPadded;  // the polynomial continues in the halo
  StencilCase::normalise();
}

namespace {

// The result must be within its bound and, bit for bit, that of the declared chain.
void matches_its_reference(const Stencil& stencil, const StencilCase& c) {
  const std::vector<float> x = c.x();
  const auto y = c.launch(stencil, x, c.c());
  REQUIRE_WITHIN_BOUND(y, expected(c, x), c.where());
  REQUIRE_WITHIN_BOUND(
      y, reference::exactly(reference::stencil_chain(x, c.c(), policy(c.boundary))), c.where());
}

// One element, the middle of a signal of nine, for each neighbour of the declared chain.
void keeps_its_roundings(const Stencil& stencil, const ScheduledStencilCase& c) {
  Bits bits(mix(c.values.seed));
  const auto found = stencil_roundings().find(bits, any_stencil_terms);
  ScheduledStencilCase one = c;
  one.n = 1, one.boundary = StencilBoundary::kPadded;
  std::vector<float> actual;
  for (const auto& f : found)
    actual.push_back(one.launch(stencil, f.input.x, f.input.c).fetch()[0]);
  stencil_roundings().require(found, actual);
}

// Subnormal elements, subnormal coefficients, and subnormal sums, in every variant. The sizes of
// the other numbers make each difference and each sum matter. The tiles are one of each kind: at
// both ends, inside, and a part of one.
void keeps_subnormals(const Stencil& stencil, const ScheduledStencilCase& c) {
  struct Exponents {
    int of_x, of_c;
  };
  constexpr float kBelowOne = 0x1p-24f;  // the significands' last bit
  ScheduledStencilCase one = c;
  one.block = 32, one.n = 3 * one.block * kernels::kStencilItems + 45;
  for (const auto [of_x, of_c] : {Exponents{-128, 60}, {60, -128}, {-123, -4}}) {
    Bits bits(mix(c.values.seed));
    const auto any = [&](int exponent) {
      return std::ldexp(static_cast<float>((1 << 24) + static_cast<int>(bits.below(1 << 24))) *
                            (bits.chance(50) ? kBelowOne : -kBelowOne),
                        exponent);
    };
    std::vector<float> x(one.n + 2 * one.halo());
    for (float& v : x) v = any(of_x);
    StencilCoefficients k = one.c();
    for (int i = 1; i <= kStencilRadius; ++i) k[i] = any(of_c);
    const auto chain = reference::exactly(reference::stencil_chain(x, k, policy(one.boundary)));
    for (const auto variant :
         {StencilVariant::kConstant, StencilVariant::kGlobal, StencilVariant::kReadOnly}) {
      one.variant = variant;
      REQUIRE_WITHIN_BOUND(one.launch(stencil, x, k), chain, one.where());
    }
  }
}

void variants_agree_bit_for_bit(const Stencil& stencil, const StencilCase& c) {
  StencilCase variant = c;
  variant.variant = StencilVariant::kConstant;
  const std::vector<float> first = variant.launch(stencil).fetch();
  for (const auto other : {StencilVariant::kGlobal, StencilVariant::kReadOnly}) {
    variant.variant = other;
    REQUIRE_BITWISE_EQUAL(variant.launch(stencil), first, c.where());
  }
}

void is_exact_on_small_integers(const Stencil& stencil, const ExactStencilCase& c) {
  const auto y = c.launch(stencil);
  const Eigen::ArrayXf exact = expected(c, c.x()).value.cast<float>();
  REQUIRE_BITWISE_EQUAL(y, std::vector<float>(exact.begin(), exact.end()), c.where());
}

void is_linear(const Stencil& stencil, const LinearStencilCase& c) {
  const std::vector<float> x = c.x(), z = make_values<float>(c.values, x.size(), kZ);
  std::vector<float> both(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) both[i] = c.a * x[i] + c.b * z[i];
  const std::vector<float> of_x = c.launch(stencil, x, c.c()).fetch(),
                           of_z = c.launch(stencil, z, c.c()).fetch(),
                           of_both = c.launch(stencil, both, c.c()).fetch();
  for (std::size_t i = 0; i < of_both.size(); ++i) {
    const float sum = c.a * of_x[i] + c.b * of_z[i];
    REQUIRE_LAW(same(of_both[i], sum), "S(a x + b z)[{}] is {}, but a S(x) + b S(z) is {}", i,
                of_both[i], sum);
  }
}

void scales_by_powers_of_two(const Stencil& stencil, const ScaledStencilCase& c) {
  std::vector<float> x = c.x();
  const std::vector<float> before = c.launch(stencil, x, c.c()).fetch();
  for (float& v : x) v = std::ldexp(v, c.exponent);
  const std::vector<float> after = c.launch(stencil, x, c.c()).fetch();
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float scaled = std::ldexp(before[i], c.exponent);
    REQUIRE_LAW(same(after[i], scaled), "S(2^e x)[{}] is {}, but 2^e S(x) is {}", i, after[i],
                scaled);
  }
}

void is_negated_by_reversal(const Stencil& stencil, const StencilCase& c) {
  std::vector<float> x = c.x();
  const std::vector<float> forward = c.launch(stencil, x, c.c()).fetch();
  std::ranges::reverse(x);
  const std::vector<float> backward = c.launch(stencil, x, c.c()).fetch();
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const float mirrored = backward[forward.size() - 1 - i];
    REQUIRE_LAW(same(mirrored, -forward[i]), "S(reversed x) is {} where S(x)[{}] is {}", mirrored,
                i, forward[i]);
  }
}

void maps_constants_to_zero(const Stencil& stencil, const ConstantStencilCase& c) {
  std::vector<float> x = c.x();
  if (!x.empty()) std::ranges::fill(x, x[0]);
  const std::vector<float> y = c.launch(stencil, x, c.c()).fetch();
  const std::int64_t edge = c.boundary == StencilBoundary::kZero
                                ? kStencilRadius
                                : 0;  // outside, that signal is not constant
  for (std::int64_t i = edge; i < c.n - edge; ++i)
    REQUIRE_LAW(y[i] == 0, "S(constant {})[{}] is {}, not 0", x[0], i, y[i]);
}

void differentiates_polynomials(const Stencil& stencil, const PolynomialStencilCase& c) {
  std::array<double, 9> a{};
  std::ranges::copy(make_values<float>(c.values, c.degree + 1, kX), a.begin());
  const auto polynomial = reference::differentiate_polynomial(a, c.n);
  const auto y =
      c.launch(stencil, {polynomial.x.data(), static_cast<std::size_t>(polynomial.x.size())},
               polynomial.coefficients);
  REQUIRE_WITHIN_BOUND(y, polynomial.derivative, c.where());
}

void commutes_with_shifts(const Stencil& stencil, const ShiftedStencilCase& c) {
  std::vector<float> x = c.x();
  const std::vector<float> y = c.launch(stencil, x, c.c()).fetch();
  if (c.n == 0) return;
  // Rotates by `shift`. Without a periodic boundary, the law does not apply to the elements that
  // wrap around and to their neighbours.
  const bool periodic = c.boundary == StencilBoundary::kPeriodic;
  const std::int64_t size = static_cast<std::int64_t>(x.size()), shift = c.shift % size;
  std::ranges::rotate(x, x.begin() + shift);
  const std::vector<float> moved = c.launch(stencil, x, c.c()).fetch();
  const std::int64_t margin = periodic ? 0 : interior(c),
                     end = periodic ? c.n : c.n - shift - margin;
  for (std::int64_t i = margin; i < end; ++i) {
    const float before = y[periodic ? (i + shift) % c.n : i + shift];
    REQUIRE_LAW(same(moved[i], before), "S(x shifted by {})[{}] is {}, but S(x) there is {}", shift,
                i, moved[i], before);
  }
}

// A graph reads the coefficients at their address during capture, with the values at its launch.
void a_graph_reads_its_coefficients_anew(const Stencil& stencil, const ScheduledStencilCase& c) {
  if (c.n == 0) return;
  const std::vector<float> expected = c.launch(stencil).fetch();
  const auto x = DeviceArray<float>::input("x", c.x(), {c.x_offset, c.poison});
  const auto y =
      DeviceArray<float>::output("y", static_cast<std::size_t>(c.n), {c.y_offset, c.poison});
  StencilCoefficients coefficients = {};
  const properties::Stream stream;
  Captured captured(stream, cudaStreamCaptureModeRelaxed, [&](cudaStream_t s) {
    const auto status =
        stencil(c.variant, x.data() + c.halo(), c.n, y.data(), coefficients, c.boundary,
                StencilShape{.block = c.block, .max_blocks = c.max_blocks}, s);
    return Answer{status.error, status.message, status.of_cuda};
  });
  REQUIRE_CUDA(captured.answer());
  coefficients = c.c();
  captured.replay(stream);
  stream.synchronise();
  REQUIRE_BITWISE_EQUAL(y, expected);
}

}  // namespace

Laws<Stencil> stencil_laws() {
  return with_batteries<stencil_call, ScheduledStencilCase, Arrays::kContiguous,
                        kSaysImmaterial | kSaysLengths>({
      no_work_law<stencil_call, StencilCase, &StencilCase::n>("LaunchesNothingForNoWork",
                                                              {.cases = 100, .cost = 10}),
      refusal_law<stencil_call, ScheduledStencilCase>("RefusesBadArguments",
                                                      {.cases = 300, .cost = 4}),
      law("MatchesItsReference", matches_its_reference, {.cases = 6000}),
      law("KeepsItsRoundings", keeps_its_roundings, {.cases = 30, .cost = 20}),
      law("KeepsSubnormals", keeps_subnormals, {.cases = 1, .cost = 9}),
      law("VariantsAgreeBitForBit", variants_agree_bit_for_bit, {.cases = 1000, .cost = 3}),
      law("IsExactOnSmallIntegers", is_exact_on_small_integers, {.cases = 1000}),
      law("IsLinear", is_linear, {.cases = 500, .cost = 3}),
      law("ScalesByPowersOfTwo", scales_by_powers_of_two, {.cases = 500, .cost = 2}),
      law("IsNegatedByReversal", is_negated_by_reversal, {.cases = 500, .cost = 2}),
      law("MapsConstantsToZero", maps_constants_to_zero, {.cases = 500}),
      law("DifferentiatesPolynomials", differentiates_polynomials, {.cases = 500}),
      law("CommutesWithShifts", commutes_with_shifts, {.cases = 500, .cost = 2}),
      law("AGraphReadsItsCoefficientsAnew", a_graph_reads_its_coefficients_anew,
          {.cases = 12, .cost = 20, .in_turns = true}),
      law("IsDeterministic", require_same_bits<ScheduledStencilCase, Stencil>,
          {.cases = 20, .cost = 50}),
  });
}

}  // namespace lockstep::properties
