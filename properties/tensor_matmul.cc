#include "properties/tensor_matmul.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "properties/contract_laws.h"
#include "properties/needing.h"
#include "properties/tensor_matmul_case.h"
#include "properties/tensor_matmul_tiles.h"

namespace lockstep::properties {
namespace {

constexpr std::int64_t kMax = 150;  // for each of m, n, k: several tiles of every size, and quick
const std::vector<ValueKind> kAnyValues = {ValueKind::kSmallIntegers, ValueKind::kIndex,
                                           ValueKind::kUniform,       ValueKind::kMixed,
                                           ValueKind::kWide,          ValueKind::kSpecial};
const std::vector<ValueKind> kExactValues = {ValueKind::kSmallIntegers, ValueKind::kOne,
                                             ValueKind::kZero};
const std::vector<ValueKind> kFiniteValues = {ValueKind::kSmallIntegers, ValueKind::kUniform};

// ---- The instruction sets for matrix units: the paths and elements of a case, and the
// requirements on the device.

struct ByWmma {
  static Domain<TensorMatmulPath> paths() {
    return choice<TensorMatmulPath>({{"wmma", TensorMatmulPath::kWmma}});
  }
  static Domain<MatrixElement> elements() {
    return choice<MatrixElement>({{"f16", MatrixElement::kF16}});
  }
  static constexpr std::array kEachPath = {TensorMatmulPath::kWmma};
  static constexpr std::array kEachElement = {MatrixElement::kF16};
  static constexpr Requirement kNeeds = {Capability::kComputeCapability, 75};
};

struct ByMma {
  static Domain<TensorMatmulPath> paths() {
    return choice<TensorMatmulPath>({{"mma", TensorMatmulPath::kMma}});
  }
  static Domain<MatrixElement> elements() {
    using enum MatrixElement;
    return choice<MatrixElement>(
        {{"f16", kF16}, {"bf16", kBf16}, {"tf32", kTf32}, {"f64", kF64}, {"s8", kS8}});
  }
  static constexpr std::array kEachPath = {TensorMatmulPath::kMma};
  static constexpr std::array kEachElement = {MatrixElement::kF16, MatrixElement::kBf16,
                                              MatrixElement::kTf32, MatrixElement::kF64,
                                              MatrixElement::kS8};
  static constexpr Requirement kNeeds = {Capability::kComputeCapability, 80};
};

struct ByFp8 : ByMma {
  static Domain<MatrixElement> elements() {
    return choice<MatrixElement>({{"e4m3", MatrixElement::kE4m3}});
  }
  static constexpr std::array kEachElement = {MatrixElement::kE4m3};
  static constexpr Requirement kNeeds = {Capability::kComputeCapability, 89};
};

struct ByWgmma {
  // Larger tiles take the simulated GPU longer: one case in six has them.
  static Domain<TensorMatmulPath> paths() {
    using enum TensorMatmulPath;
    return choice<TensorMatmulPath>({{"wgmma", kWgmma},
                                     {"wgmma_cluster", kWgmmaCluster},
                                     {"wgmma", kWgmma},
                                     {"wgmma_cluster", kWgmmaCluster},
                                     {"wgmma", kWgmma},
                                     {"wgmma_wide", kWgmmaWide}});
  }
  static Domain<MatrixElement> elements() {
    using enum MatrixElement;
    return choice<MatrixElement>({{"f16", kF16}, {"bf16", kBf16}, {"e4m3", kE4m3}});
  }
  static constexpr std::array kEachPath = {
      TensorMatmulPath::kWgmma, TensorMatmulPath::kWgmmaCluster, TensorMatmulPath::kWgmmaWide};
  static constexpr std::array kEachElement = {MatrixElement::kF16, MatrixElement::kBf16,
                                              MatrixElement::kE4m3};
  static constexpr Requirement kNeeds = {Capability::kWgmma};
};

struct ByTcgen05 {
  static Domain<TensorMatmulPath> paths() {
    using enum TensorMatmulPath;
    return choice<TensorMatmulPath>(
        {{"tcgen05", kTcgen05}, {"tcgen05_ring", kTcgen05Ring}, {"tcgen05_pair", kTcgen05Pair}});
  }
  static Domain<MatrixElement> elements() {
    using enum MatrixElement;
    return choice<MatrixElement>(
        {{"f16", kF16}, {"bf16", kBf16}, {"tf32", kTf32}, {"e4m3", kE4m3}});
  }
  static constexpr std::array kEachPath = {
      TensorMatmulPath::kTcgen05, TensorMatmulPath::kTcgen05Ring, TensorMatmulPath::kTcgen05Pair};
  static constexpr std::array kEachElement = {MatrixElement::kF16, MatrixElement::kBf16,
                                              MatrixElement::kTf32, MatrixElement::kE4m3};
  static constexpr Requirement kNeeds = {Capability::kTensorMemory};
};

// The paths and elements of Listed::kOfMutants.
template <class Way>
struct OfMutants : Way {
  static constexpr std::array kEachElement = {MatrixElement::kF16};
};
template <>
struct OfMutants<ByWgmma> : ByWgmma {
  static constexpr std::array kEachPath = {TensorMatmulPath::kWgmma};
  static constexpr std::array kEachElement = {MatrixElement::kF16};
};

template <class Way>
struct AnyCase : TensorMatmulCase {
  static void fields(AnyCase& c, FieldVisitor& field) {
    fields_of(c, field, Way::paths(), Way::elements(), kAnyValues, sizes(0, kMax));
  }
};

// Small integers: every product and partial sum is exact.
template <class Way>
struct ExactCase : TensorMatmulCase {
  static void fields(ExactCase& c, FieldVisitor& field) {
    fields_of(c, field, Way::paths(), Way::elements(), kExactValues, sizes(0, kMax));
  }
};

// Of moderate size.
template <class Way>
struct SmallCase : TensorMatmulCase {
  static void fields(SmallCase& c, FieldVisitor& field) {
    fields_of(c, field, Way::paths(), Way::elements(), kAnyValues, sizes(0, 40));
  }
};

// Square, without special values.
template <class Way>
struct SquareCase : TensorMatmulCase {
  static void fields(SquareCase& c, FieldVisitor& field) {
    fields_of(c, field, Way::paths(), Way::elements(), kFiniteValues, sizes(0, 90));
  }
  void normalise() { n = k = m; }
};

// ---- The laws.

Elements transposed(const Elements& dense, std::int64_t rows, std::int64_t columns) {
  Elements out(dense.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) out[j * rows + i] = dense[i * columns + j];
  }
  return out;
}

// Columns `from` to `to` - 1.
Elements columns_of(const Elements& dense, std::int64_t columns, std::int64_t from,
                    std::int64_t to) {
  Elements out;
  for (std::size_t row = 0; row * columns < dense.size(); ++row)
    out.insert(out.end(), dense.begin() + row * columns + from, dense.begin() + row * columns + to);
  return out;
}

void matches_its_reference(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  const Elements a = c.a(), b = c.b(), addend = c.c();
  require_product(c, c.launch(matmul, a, b, addend), a, b, addend);
}

// Integers with exact sums.
void require_exact(const TensorMatmulCase& c, const Elements& d, const Elements& a,
                   const Elements& b, const Elements& addend) {
  const auto whole = [&](const Elements& factor) {
    std::vector<std::int32_t> numbers(factor.size());
    std::ranges::transform(factor, numbers.begin(), [&](std::uint64_t bits) {
      return static_cast<std::int32_t>(reference::value_of(factor_of(c.element), bits));
    });
    return numbers;
  };
  const std::vector<std::int32_t> rows = whole(a), columns = whole(b);
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      std::int32_t products = 0;
      for (std::int64_t p = 0; p < c.k; ++p) products += rows[i * c.k + p] * columns[j * c.k + p];
      const double sum = result_of(c.element, addend[i * c.n + j]) + products;
      const double is = result_of(c.element, d[i * c.n + j]);
      REQUIRE_LAW(is == sum, "D[{}][{}] is {}, but C + A B is {}", i, j, is, sum);
    }
  }
}

void is_exact_on_small_integers(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  const Elements a = c.a(), b = c.b(), addend = c.c();
  require_exact(c, c.launch(matmul, a, b, addend), a, b, addend);
}

// Whether a law leaves out entry `i` of its list for this path and element. If work is limited,
// each path has every entry, with one of the elements in turn.
template <class Of>
bool is_left_out(TensorMatmulPath path, MatrixElement element, std::size_t i) {
  const auto elements = std::span(Of::kEachElement);
  const auto in_turn = (i + static_cast<std::size_t>(path)) % elements.size();
  return elements[in_turn] != element && may_reduce();
}

// Every kernel of the instruction set. Eight and five stages, which are more than are in flight at
// once, three and one. Each factor is copied in each way with each way of the other, and rows of C
// and D are copied in pairs or not.
template <class Of>
void is_exact_over_many_stages(const TensorMatmul& matmul, const TensorMatmulCase& given) {
  struct Layout {
    int stages, a_alignment, b_alignment, c_gap, d_gap;
  };
  constexpr Layout kLayouts[] = {
      {7, 16, 16, 1, 1}, {4, 16, 1, 0, 0}, {2, 1, 16, 1, 0}, {0, 4, 4, 0, 1}};
  for (const TensorMatmulPath path : Of::kEachPath) {
    for (const MatrixElement element : Of::kEachElement) {
      const bool wide = path == TensorMatmulPath::kWgmmaWide,
                 small = path == TensorMatmulPath::kWmma;
      for (std::size_t i = 0; i < std::size(kLayouts); ++i) {
        if (is_left_out<Of>(path, element, i)) continue;
        const Layout& layout = kLayouts[i];
        TensorMatmulCase c = given;
        c.path = path, c.element = element;
        // A tile and a part of the next one below; for wide tiles, most of one.
        const bool tall = path >= TensorMatmulPath::kTcgen05;
        c.m = wide ? 123 : small ? 37 : tall ? rows_of_tile(path) + 5 : 69;
        c.n = wide ? 251 : small ? 35 : tall ? 51 : 67;
        c.k = (layout.stages * (wide ? 128 : 64) + 40) / bytes_of(element);
        c.a_alignment = layout.a_alignment, c.b_alignment = layout.b_alignment;
        c.a_gap = c.b_gap = 1, c.c_gap = layout.c_gap, c.d_gap = layout.d_gap;
        c.a_offset = c.b_offset = 1, c.c_offset = c.d_offset = 2;
        c.a_values.kind = c.b_values.kind = c.c_values.kind = ValueKind::kSmallIntegers;
        is_exact_on_small_integers(matmul, c);
      }
    }
  }
}

// Zeros of either sign only, whose sums' signs show a missing or an additional product, or a start
// from +0. Rows of A and columns of B are +0, -0, both alternately, and -0 except for the last;
// each pair is combined with both zeros in C. Covers every number of products that can remain in a
// step or a stage.
template <class Of>
void keeps_the_signs_of_zeros(const TensorMatmul& matmul, const TensorMatmulCase& given) {
  constexpr std::int64_t kPatterns = 4, kSide = 2 * kPatterns;
  for (const TensorMatmulPath path : Of::kEachPath) {
    for (const MatrixElement element : Of::kEachElement) {
      const std::uint64_t zeros[] = {bits_of(element, 0.0), bits_of(element, -0.0)},
                          addends[] = {result_bits_of(element, 0.0), result_bits_of(element, -0.0)};
      constexpr std::int64_t kDepths[] = {1, 4, 12, 16, 36, 68};
      for (std::size_t depth = 0; depth < std::size(kDepths); ++depth) {
        if (is_left_out<Of>(path, element, depth)) continue;
        const std::int64_t k = kDepths[depth];
        TensorMatmulCase c = given;
        c.path = path, c.element = element;
        c.m = c.n = kSide, c.k = k;
        Elements factor(kSide * k), addend(kSide * kSide);
        for (std::int64_t i = 0; i < kSide; ++i) {
          for (std::int64_t p = 0; p < k; ++p) {
            const bool negative[kPatterns] = {false, true, p % 2 != 0, p + 1 < k};
            factor[i * k + p] = zeros[negative[i % kPatterns]];
          }
          for (std::int64_t j = 0; j < kSide; ++j) addend[i * kSide + j] = addends[i / kPatterns];
        }
        require_product(c, c.launch(matmul, factor, factor, addend), factor, factor, addend);
      }
    }
  }
}

// Including NaN payloads and the sign of zero.
void without_products_gives_c(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  TensorMatmulCase none = c;
  none.k = 0;
  REQUIRE_BITWISE_EQUAL(none.launch(matmul), none.c());
}

// Multiplies the first columns, then the others from that result on. Each instruction then has the
// same products as in the whole product, so the bits must be equal.
void goes_on_from_its_result(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  constexpr std::int64_t kStepBytes = 32;
  const std::int64_t step = kStepBytes / bytes_of(c.element), split = c.k / 2 / step * step;
  const Elements a = c.a(), b = c.b();
  TensorMatmulCase front = c, back = c;
  front.k = split, back.k = c.k - split;
  const Elements half =
      front.launch(matmul, columns_of(a, c.k, 0, split), columns_of(b, c.k, 0, split), c.c());
  REQUIRE_BITWISE_EQUAL(
      back.launch(matmul, columns_of(a, c.k, split, c.k), columns_of(b, c.k, split, c.k), half),
      c.launch(matmul, a, b, c.c()));
}

// Both have equal products in the same order, with their factors exchanged.
void transposes(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  const Elements d = c.launch(matmul);
  TensorMatmulCase other = c;
  std::swap(other.m, other.n);
  const Elements mirrored = other.launch(matmul, c.b(), c.a(), transposed(c.c(), c.m, c.n));
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      const double here = result_of(c.element, d[i * c.n + j]),
                   there = result_of(c.element, mirrored[j * c.m + i]);
      REQUIRE_LAW(here == there || (here != here && there != there),
                  "(A B + C)[{}][{}] is {}, but (B' A' + C')[{}][{}] is {}", i, j, here, j, i,
                  there);
    }
  }
}

void by_the_identity_changes_nothing(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  Elements identity(c.m * c.m, bits_of(c.element, 0));
  for (std::int64_t i = 0; i < c.m; ++i) identity[i * c.m + i] = bits_of(c.element, 1);
  const Elements none(c.m * c.m, result_bits_of(c.element, 0)), b = c.b();
  const Elements right = c.launch(matmul, b, identity, none),
                 left = c.launch(matmul, identity, b, none);
  for (std::int64_t e = 0; e < c.m * c.m; ++e) {
    const double factor = reference::value_of(factor_of(c.element), b[e]);
    const double by_rows = result_of(c.element, right[e]);
    const double by_columns = result_of(c.element, left[e % c.m * c.m + e / c.m]);
    REQUIRE_LAW(by_rows == factor, "(A I)[{}] is {}, but A[{}] is {}", e, by_rows, e, factor);
    REQUIRE_LAW(by_columns == factor, "(I B)[{}] is {}, but B[{}] is {}", e, by_columns, e, factor);
  }
}

void distributes_over_sums(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  const Elements a = c.a(), b = c.b(), other = c.other_b(),
                 none(c.m * c.n, result_bits_of(c.element, 0));
  Elements both(b.size());
  std::ranges::transform(b, other, both.begin(), [&](std::uint64_t x, std::uint64_t y) {
    const reference::Factor factor = factor_of(c.element);
    return bits_of(c.element, reference::value_of(factor, x) + reference::value_of(factor, y));
  });
  const Elements of_b = c.launch(matmul, a, b, c.c()), of_other = c.launch(matmul, a, other, none),
                 of_both = c.launch(matmul, a, both, c.c());
  for (std::size_t e = 0; e < of_both.size(); ++e) {
    const double whole = result_of(c.element, of_both[e]),
                 parts = result_of(c.element, of_b[e]) + result_of(c.element, of_other[e]);
    REQUIRE_LAW(whole == parts, "(A (B + E) + C)[{}] is {}, but A B + C + A E is {}", e, whole,
                parts);
  }
}

// f16 by mma and by wmma; f16, bf16 and tf32 by wgmma or tcgen05 and by mma. e4m3 is excluded,
// because another unit sums it there.
void paths_agree_bit_for_bit(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  TensorMatmulCase here = c, there = c;
  const bool warpgroup = c.path != TensorMatmulPath::kMma;
  if (!warpgroup || c.element == MatrixElement::kE4m3)
    here.element = there.element = MatrixElement::kF16;
  there.path = warpgroup ? TensorMatmulPath::kMma : TensorMatmulPath::kWmma;
  REQUIRE_BITWISE_EQUAL(here.launch(matmul), there.launch(matmul));
}

template <class Way>
void covers_tiles_past_16_bits(const TensorMatmul& matmul, const SmallCase<Way>&) {
  for (const TensorMatmulPath path : Way::kEachPath) {
    for (const MatrixElement element : Way::kEachElement) {
      // Only one type for tcgen05: the arrays are large, and all types have the same tiles.
      if (path >= TensorMatmulPath::kTcgen05 && element != MatrixElement::kF16) continue;
      if (element != Way::kEachElement[0] && may_reduce()) continue;
      covers_tiles_past_16_bits_by(matmul, path, element);
    }
  }
}

// The header's table: the range of compute capabilities, times ten, in which a path supports an
// element; none if no device does.
struct Needs {
  int from = 0, to = std::numeric_limits<int>::max();
};
std::optional<Needs> needs_of(TensorMatmulPath path, MatrixElement element) {
  using enum MatrixElement;
  if (path == TensorMatmulPath::kWmma)
    return element == kF16 ? std::optional(Needs{75}) : std::nullopt;
  if (path == TensorMatmulPath::kMma) return Needs{element == kE4m3 ? 89 : 80};
  if (element == kF64 || element == kS8) return std::nullopt;
  if (path >= TensorMatmulPath::kTcgen05) return Needs{100, 103};
  return element != kTf32 ? std::optional(Needs{90, 90}) : std::nullopt;
}

// Each path with each element. A path that the device has must work. One that it lacks must be
// refused before any operation on the device, and so must one that no device has.
void answers_for_each_path_and_element(const TensorMatmul& matmul, const SmallCase<ByWmma>& given) {
  const int device = 10 * device_properties().major + device_properties().minor;
  SmallCase<ByWmma> c = given;
  c.m = std::max<std::int64_t>(c.m, 1), c.n = std::max<std::int64_t>(c.n, 1);
  for (int p = 0; p <= static_cast<int>(TensorMatmulPath::kTcgen05Pair); ++p) {
    for (int e = 0; e <= static_cast<int>(MatrixElement::kE4m3); ++e) {
      c.path = static_cast<TensorMatmulPath>(p), c.element = static_cast<MatrixElement>(e);
      const std::optional<Needs> needs = needs_of(c.path, c.element);
      const auto said = kernels::tensor_matmul_support(c.path, c.element);
      REQUIRE_LAW(said.exists == needs.has_value() &&
                      (!needs || (said.from == needs->from && said.to == needs->to)),
                  "path {} with element {}: said to exist {}, from {} to {}", p, e, said.exists,
                  said.from, said.to);
      auto call = tensor_matmul_call(c);
      call.allocate();
      Answer answer;
      const std::vector<lockstepOperation> operations =
          operations_of([&] { answer = call.launch(matmul, nullptr); });
      REQUIRE_CUDA(cudaDeviceSynchronize());
      const bool has = needs && device >= needs->from && device <= needs->to;
      const cudaError_t wanted = has     ? cudaSuccess
                                 : needs ? cudaErrorNotSupported
                                         : cudaErrorInvalidValue;
      REQUIRE_LAW(answer.error == wanted && answer.message.empty() == has,
                  "path {} with element {} on a device of {}: answers {} ({}), not {}", p, e,
                  device, cudaGetErrorName(answer.error), answer.message, cudaGetErrorName(wanted));
      REQUIRE_LAW(has || (operations.empty() && !answer.of_cuda),
                  "path {} with element {} on a device of {}: {} came first", p, e, device,
                  operations.empty() ? "CUDA's answer" : operations[0].call);
    }
  }
}

// ---- The lists.

template <class Way>
Laws<TensorMatmul> needing_all(Laws<TensorMatmul> laws) {
  for (auto& law : laws) law = needing<SmallCase<Way>>(Way::kNeeds, std::move(law));
  return laws;
}

template <class Way, class Of>
Law<TensorMatmul> many_stages() {
  return law<SmallCase<Way>, TensorMatmul>(
      "IsExactOverManyStages",
      +[](const TensorMatmul& matmul, const SmallCase<Way>& c) {
        is_exact_over_many_stages<Of>(matmul, c);
      },
      {.cases = 1, .cost = kCostOfHugeWork});
}

template <class Way, class Of>
Law<TensorMatmul> signs_of_zeros() {
  return law<SmallCase<Way>, TensorMatmul>(
      "KeepsTheSignsOfZeros",
      +[](const TensorMatmul& matmul, const SmallCase<Way>& c) {
        keeps_the_signs_of_zeros<Of>(matmul, c);
      },
      {.cases = 1, .cost = kCostOfHugeWork});
}

// The laws of every instruction set.
template <class Way>
Laws<TensorMatmul> common_laws(int cases, Listed listed = Listed::kAll) {
  const bool of_mutants = listed == Listed::kOfMutants;
  return {
      no_work_law<tensor_matmul_call, SmallCase<Way>, &TensorMatmulCase::m, &TensorMatmulCase::n>(
          "LaunchesNothingForNoWork", {.cases = 30, .cost = 4}),
      refusal_law<tensor_matmul_call, SmallCase<Way>>("RefusesBadArguments",
                                                      {.cases = 40, .cost = 4}),
      law<AnyCase<Way>, TensorMatmul>("MatchesItsReference",
                                      +[](const TensorMatmul& matmul, const AnyCase<Way>& c) {
                                        matches_its_reference(matmul, c);
                                      },
                                      {.cases = 2 * cases}),
      law<ExactCase<Way>, TensorMatmul>("IsExactOnSmallIntegers",
                                        +[](const TensorMatmul& matmul, const ExactCase<Way>& c) {
                                          is_exact_on_small_integers(matmul, c);
                                        },
                                        {.cases = cases / 2}),
      of_mutants ? many_stages<Way, OfMutants<Way>>() : many_stages<Way, Way>(),
      of_mutants ? signs_of_zeros<Way, OfMutants<Way>>() : signs_of_zeros<Way, Way>(),
      law<SmallCase<Way>, TensorMatmul>("WithoutProductsGivesC",
                                        +[](const TensorMatmul& matmul, const SmallCase<Way>& c) {
                                          without_products_gives_c(matmul, c);
                                        },
                                        {.cases = 30, .cost = 4}),
      law<AnyCase<Way>, TensorMatmul>("GoesOnFromItsResult",
                                      +[](const TensorMatmul& matmul, const AnyCase<Way>& c) {
                                        goes_on_from_its_result(matmul, c);
                                      },
                                      {.cases = cases / 3, .cost = 3}),
  };
}

template <class Way>
Laws<TensorMatmul> all_laws(int cases, Listed listed = Listed::kAll) {
  Laws<TensorMatmul> laws = common_laws<Way>(cases, listed);
  const Laws<TensorMatmul> more = {
      law<AnyCase<Way>, TensorMatmul>(
          "Transposes",
          +[](const TensorMatmul& matmul, const AnyCase<Way>& c) { transposes(matmul, c); },
          {.cases = cases / 3, .cost = 2}),
      law<SquareCase<Way>, TensorMatmul>("ByTheIdentityChangesNothing",
                                         +[](const TensorMatmul& matmul, const SquareCase<Way>& c) {
                                           by_the_identity_changes_nothing(matmul, c);
                                         },
                                         {.cases = cases / 4, .cost = 2}),
      law<ExactCase<Way>, TensorMatmul>("DistributesOverSums",
                                        +[](const TensorMatmul& matmul, const ExactCase<Way>& c) {
                                          distributes_over_sums(matmul, c);
                                        },
                                        {.cases = cases / 4, .cost = 3}),
      law<SmallCase<Way>, TensorMatmul>("CoversMoreTilesThanBlocks",
                                        +[](const TensorMatmul& matmul, const SmallCase<Way>& c) {
                                          covers_more_tiles_than_blocks(matmul, c);
                                        },
                                        {.cases = 1, .cost = kCostOfHugeWork}),
      law<SmallCase<Way>, TensorMatmul>("CoversTilesPast16Bits",
                                        +[](const TensorMatmul& matmul, const SmallCase<Way>& c) {
                                          covers_tiles_past_16_bits<Way>(matmul, c);
                                        },
                                        {.cases = 1, .cost = kCostOfHugeWork}),
      law<SmallCase<Way>, TensorMatmul>("IsDeterministic",
                                        require_same_bits<SmallCase<Way>, TensorMatmul>,
                                        {.cases = 1, .cost = kCostOfHugeWork}),
  };
  laws.insert(laws.end(), more.begin(), more.end());
  return with_batteries<tensor_matmul_call, SmallCase<Way>, Arrays::kStrided, kSaysImmaterial>(
      std::move(laws));
}

template <class Way>
Law<TensorMatmul> agreement() {
  return law<AnyCase<Way>, TensorMatmul>("PathsAgreeBitForBit",
                                         +[](const TensorMatmul& matmul, const AnyCase<Way>& c) {
                                           paths_agree_bit_for_bit(matmul, c);
                                         },
                                         {.cases = 30, .cost = 3});
}

}  // namespace

Laws<TensorMatmul> tensor_matmul_path_laws() {
  return {law("AnswersForEachPathAndElement", answers_for_each_path_and_element,
              {.cases = 2, .cost = 20})};
}

Laws<TensorMatmul> tensor_matmul_wmma_laws() { return all_laws<ByWmma>(60); }

Laws<TensorMatmul> tensor_matmul_mma_laws(Listed listed) {
  Laws<TensorMatmul> laws = all_laws<ByMma>(80, listed);
  laws.push_back(agreement<ByMma>());
  return needing_all<ByMma>(std::move(laws));
}

Laws<TensorMatmul> tensor_matmul_fp8_laws() { return needing_all<ByFp8>(common_laws<ByFp8>(30)); }

Laws<TensorMatmul> tensor_matmul_wgmma_laws(Listed listed) {
  Laws<TensorMatmul> laws = all_laws<ByWgmma>(32, listed);
  laws.push_back(agreement<ByWgmma>());
  return needing_all<ByWgmma>(std::move(laws));
}

Laws<TensorMatmul> tensor_matmul_tcgen05_laws(Listed listed) {
  Laws<TensorMatmul> laws = all_laws<ByTcgen05>(24, listed);
  laws.push_back(agreement<ByTcgen05>());
  return needing_all<ByTcgen05>(std::move(laws));
}

}  // namespace lockstep::properties
