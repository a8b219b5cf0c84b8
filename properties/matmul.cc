#include "properties/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/device/race_search.h"
#include "harness/device/sparse_array.h"
#include "harness/property/rows.h"
#include "harness/property/values.h"
#include "properties/batteries.h"
#include "properties/contract_laws.h"
#include "properties/matmul_roundings.h"
#include "properties/tall_grid.h"
#include "properties/trial.h"
#include "reference/matmul.h"

namespace lockstep::properties {
namespace {

using kernels::MatmulVariant;
using kernels::MatrixView;
using ConstMap = Eigen::Map<const reference::RowMajorF>;

// Streams of make_values(): one per array.
enum Stream : std::uint64_t { kA, kB, kOther };

// Equal as numbers, or both NaN.
bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A dense matrix with `gap` NaN elements between its rows, which a kernel must not use.
std::vector<float> spread(const std::vector<float>& dense, std::int64_t rows, std::int64_t columns,
                          int gap) {
  const std::int64_t stride = columns + gap;
  std::vector<float> wide(rows * stride, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t i = 0; i < rows; ++i)
    std::copy_n(dense.begin() + i * columns, columns, wide.begin() + i * stride);
  return wide;
}

std::vector<float> transposed(const std::vector<float>& dense, std::int64_t rows,
                              std::int64_t columns) {
  std::vector<float> out(dense.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) out[j * rows + i] = dense[i * columns + j];
  }
  return out;
}

int block_side(MatmulVariant variant) {
  return variant == MatmulVariant::kTiled8 ? 8 : variant == MatmulVariant::kTiled32 ? 32 : 16;
}

constexpr std::int64_t kMax = 160;  // for each of m, n, k: several tiles of every size, and quick
const std::vector<ValueKind> kAnyValues = {ValueKind::kSmallIntegers, ValueKind::kIndex,
                                           ValueKind::kUniform,       ValueKind::kMixed,
                                           ValueKind::kWide,          ValueKind::kSpecial};
const std::vector<ValueKind> kExactValues = {ValueKind::kSmallIntegers, ValueKind::kOne,
                                             ValueKind::kZero};

struct MatmulCase {
  std::int64_t m = 0, n = 0, k = 0;
  MatmulVariant variant = MatmulVariant::kGlobal;
  int a_gap = 0, b_gap = 0, c_gap = 0;           // elements between the end of a row and the next
  int a_offset = 0, b_offset = 0, c_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values a_values, b_values;

  static void fields(MatmulCase& c, FieldVisitor& field) {
    fields_of(c, field, kAnyValues, sizes(0, kMax));
  }
  static void fields_of(MatmulCase& c, FieldVisitor& field, const std::vector<ValueKind>& values,
                        const Domain<std::int64_t>& side) {
    using enum MatmulVariant;
    field("m", c.m, side);
    field("n", c.n, side);
    field("k", c.k, side);
    field("variant", c.variant,
          choice<MatmulVariant>({{"global", kGlobal},
                                 {"tiled8", kTiled8},
                                 {"tiled16", kTiled16},
                                 {"tiled32", kTiled32}}));
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
  // At most two sides are long: three long sides would dominate a run's time and test nothing new.
  void normalise() {
    constexpr std::int64_t kLong = 80;
    if (m > kLong && n > kLong && k > kLong) k = kLong;
  }
  std::int64_t work() const { return m * n * k; }

  // The operands on the host, dense: m x k and k x n elements, row by row.
  std::vector<float> a() const { return make_values<float>(a_values, m * k, kA); }
  std::vector<float> b() const { return make_values<float>(b_values, k * n, kB); }

  // Launches the implementation on device memory under the case's contract. Dense operands in,
  // dense m x n result out. The elements between the rows of C must be unchanged.
  std::vector<float> launch(const Matmul& matmul, const std::vector<float>& a,
                            const std::vector<float>& b) const;
  std::vector<float> launch(const Matmul& matmul) const { return launch(matmul, a(), b()); }
  // C as it is in memory.
  DeviceArray<float> launch_in_memory(const Matmul& matmul, const std::vector<float>& a,
                                      const std::vector<float>& b) const;

  // The thread that computes element i of the dense result.
  WhereIs where() const {
    const std::int64_t side = block_side(variant), across = n == 0 ? 1 : (n - 1) / side + 1;
    return [side, across, n = n](std::size_t e) {
      const auto i = static_cast<std::int64_t>(e) / n, j = static_cast<std::int64_t>(e) % n;
      return Origin{.block = static_cast<std::uint64_t>(i / side * across + j / side),
                    .thread = static_cast<std::uint32_t>(i % side * side + j % side)};
    };
  }
};

// Small integers: every product and partial sum is exact in float.
struct ExactMatmulCase : MatmulCase {
  static void fields(ExactMatmulCase& c, FieldVisitor& field) {
    fields_of(c, field, kExactValues, sizes(0, kMax));
  }
};

// Square operands, of up to three of the largest tiles.
struct SquareMatmulCase : MatmulCase {
  static void fields(SquareMatmulCase& c, FieldVisitor& field) {
    fields_of(c, field, {ValueKind::kSmallIntegers, ValueKind::kUniform, ValueKind::kWide},
              sizes(0, 80));
  }
  void normalise() { n = k = m; }
};

// Sizes too large for the reference: sides up to 2,048, at most 2^20 elements of C, and at most
// 2^22 products.
struct LargeMatmulCase : MatmulCase {
  static void fields(LargeMatmulCase& c, FieldVisitor& field) {
    fields_of(c, field, {ValueKind::kSmallIntegers, ValueKind::kUniform},
              one_of<std::int64_t>(kSides));
  }
  void normalise() {
    n = longest(n, (1 << 20) / m);
    k = longest(k, (1 << 22) / (m * n));
  }
  std::int64_t work() const { return 0; }  // large by intention

 private:
  static constexpr auto kSides = {1l,   31l,  32l,   33l,   64l,   65l,  128l,
                                  333l, 512l, 1023l, 1025l, 2047l, 2048l};
  // `side`, limited to the longest that `most` allows.
  static std::int64_t longest(std::int64_t side, std::int64_t most) {
    return side <= most ? side : *std::prev(std::ranges::upper_bound(kSides, most));
  }
};

// All sides 2,048.
struct HugeMatmulCase : LargeMatmulCase {
  static void fields(HugeMatmulCase& c, FieldVisitor& field) {
    fields_of(c, field, {ValueKind::kUniform}, one_of<std::int64_t>({2048}));
  }
  void normalise() {}
};

// A case of moderate size, because it runs once per schedule.
struct ScheduledMatmulCase : MatmulCase {
  static void fields(ScheduledMatmulCase& c, FieldVisitor& field) {
    fields_of(c, field, kAnyValues, sizes(0, 48));
  }
};

// The columns of a block.
std::int64_t side_of_tile(MatmulVariant variant) {
  return variant == MatmulVariant::kTiled8 ? 8 : variant == MatmulVariant::kTiled32 ? 32 : 16;
}

// The launcher's call for the case, with its contract; dense contents.
template <class A, class B>
Call<Matmul> call_with(const MatmulCase& c, A a_contents, B b_contents) {
  Call<Matmul> call("matmul");
  const std::int64_t a_stride = c.k + c.a_gap, b_stride = c.n + c.b_gap, c_stride = c.n + c.c_gap;
  auto& [variant, a, b, product] =
      call.arguments(c.variant, MatrixView<const float>{nullptr, c.m, c.k, a_stride},
                     MatrixView<const float>{nullptr, c.k, c.n, b_stride},
                     MatrixView<float>{nullptr, c.m, c.n, c_stride});
  // The number of addressable rows; any number for a matrix without columns.
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const auto rows = [](std::int64_t columns, std::int64_t stride) {
    return columns == 0 ? kAny : kAny / 4 / stride;
  };
  const auto strides = [](std::int64_t rows, std::int64_t columns) {
    return Range{columns, rows == 0 || columns == 0 ? kAny : kAny / 4 / rows};
  };
  call.choice("variant", MatmulVariant::kTiled32, variant);
  call.integer("m", {0, std::min(rows(c.k, a_stride), rows(c.n, c_stride))}, a.rows, product.rows);
  call.integer("n", {0, std::min(b_stride, c_stride)}, b.columns, product.columns);
  call.integer("k", {0, std::min(a_stride, rows(c.n, b_stride))}, a.columns, b.rows);
  call.integer("a.stride", strides(c.m, c.k), a.stride);
  call.integer("b.stride", strides(c.k, c.n), b.stride);
  call.integer("c.stride", strides(c.m, c.n), product.stride);
  // The elements from the first to the last; those between the end of the last row and its stride
  // are not part of the matrix.
  const auto count = [](std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
  };
  call.input("a", a.data, {.count = count(c.m, c.k, a_stride)}, {c.a_offset, c.poison},
             [&c, a_contents] { return spread(a_contents(), c.m, c.k, c.a_gap); });
  call.input("b", b.data, {.count = count(c.k, c.n, b_stride)}, {c.b_offset, c.poison},
             [&c, b_contents] { return spread(b_contents(), c.k, c.n, c.b_gap); });
  call.output<float>("c", product.data,
                     {.count = count(c.m, c.n, c_stride), .room = c.m * c_stride},
                     {c.c_offset, c.poison});
  call.apart("a", "c");
  call.apart("b", "c");
  call.rows("a", c.m, c.k, "a.stride", strides(c.m, c.k), a.stride);
  call.rows("b", c.k, c.n, "b.stride", strides(c.k, c.n), b.stride);
  call.rows("c", c.m, c.n, "c.stride", strides(c.m, c.n), product.stride);
  call.immaterial("variant");
  call.own_kernels("variant");
  if (c.m < 2) call.immaterial("a.stride"), call.immaterial("c.stride");
  if (c.k < 2) call.immaterial("b.stride");
  const std::int64_t tile = side_of_tile(c.variant);
  if (c.m > 0 && c.k > 0)
    call.lengthens("n", tile, Whole{tile} * std::numeric_limits<int>::max(),
                   {{"b", 1, c.k, b_stride}, {"c", 1, c.m, c_stride}},
                   [&b = b, &product = product, b_stride, c_stride, n = c.n](std::int64_t value) {
                     b.stride = b_stride + (value - n), product.stride = c_stride + (value - n);
                   });
  // A number of elements that wraps to 0 in 32 bits.
  const auto sides = [&a = a, &b = b, &product = product](std::int64_t m, std::int64_t n,
                                                          std::int64_t k) {
    a.rows = product.rows = m, b.columns = product.columns = b.stride = product.stride = n;
    a.columns = b.rows = a.stride = k;
  };
  if (c.m > 0 && c.n > 0 && c.k > 0) {
    constexpr std::int64_t k16Bits = std::int64_t{1} << 16;
    call.promise("c:65536x65536", [sides] { sides(k16Bits, k16Bits, 1); });
    call.promise("a:65536x65536", [sides] { sides(k16Bits, 1, k16Bits); });
    call.promise("b:65536x65536", [sides] { sides(1, k16Bits, k16Bits); });
  }
  // For a single row: as wide as a grid may be.
  if (c.m > 0 && c.n > 0 && c.k > 0)
    call.together("columns_of_a_row", Whole{tile} * std::numeric_limits<int>::max(),
                  [sides](std::int64_t n) { sides(1, n, 1); });
  call.mistake("more_rows_of_a", [&a = a] { ++a.rows; });
  call.mistake("more_rows_of_b", [&b = b] { ++b.rows; });
  call.mistake("more_columns_of_a", [&a = a] { ++a.columns, ++a.stride; });
  call.mistake("more_columns_of_b", [&b = b] { ++b.columns, ++b.stride; });
  return call;
}

Call<Matmul> call_of(const MatmulCase& c) {
  return call_with(
      c, [&c] { return c.a(); }, [&c] { return c.b(); });
}

std::vector<float> MatmulCase::launch(const Matmul& matmul, const std::vector<float>& a,
                                      const std::vector<float>& b) const {
  return fetch_rows(launch_in_memory(matmul, a, b), m, n, n + c_gap);
}

DeviceArray<float> MatmulCase::launch_in_memory(const Matmul& matmul, const std::vector<float>& a,
                                                const std::vector<float>& b) const {
  return call_with(
             *this, [&] { return a; }, [&] { return b; })
      .run(matmul)
      .take<float>("c");
}

reference::Bounded expected(const MatmulCase& c, const std::vector<float>& a,
                            const std::vector<float>& b) {
  return reference::matmul(ConstMap(a.data(), c.m, c.k), ConstMap(b.data(), c.k, c.n));
}

// The result must be within its bound and, bit for bit, that of the declared chain.
void matches_its_reference(const Matmul& matmul, const MatmulCase& c) {
  const std::vector<float> a = c.a(), b = c.b(), product = c.launch(matmul, a, b);
  REQUIRE_WITHIN_BOUND(product, expected(c, a, b), c.where());
  const auto chain =
      reference::matmul_chain(ConstMap(a.data(), c.m, c.k), ConstMap(b.data(), c.k, c.n));
  REQUIRE_WITHIN_BOUND(product, reference::exactly(chain), c.where());
}

// A product whose diagonal has an element for each neighbour of the declared chain.
void keeps_its_roundings(const Matmul& matmul, const ScheduledMatmulCase& c) {
  Bits bits(mix(c.a_values.seed + (c.b_values.seed << 32)));
  const auto found = matmul_roundings().find(bits, any_matmul_terms);
  ScheduledMatmulCase one = c;
  one.m = one.n = static_cast<std::int64_t>(found.size()), one.k = kMatmulTerms;
  std::vector<float> a, columns;
  for (const auto& f : found) {
    a.insert(a.end(), f.input.a.begin(), f.input.a.end());
    columns.insert(columns.end(), f.input.b.begin(), f.input.b.end());
  }
  const std::vector<float> product = one.launch(matmul, a, transposed(columns, one.n, one.k));
  std::vector<float> actual;
  for (std::int64_t i = 0; i < one.n; ++i) actual.push_back(product[i * one.n + i]);
  matmul_roundings().require(found, actual);
}

// Columns past 31 and 32 bits, with few rows; only the first and last blocks run.
void covers_far_columns(const Matmul& matmul, const ScheduledMatmulCase& c) {
  require_capability({Capability::kSimulator});
  for (const MatmulVariant variant : {MatmulVariant::kGlobal, MatmulVariant::kTiled8,
                                      MatmulVariant::kTiled16, MatmulVariant::kTiled32}) {
    ScheduledMatmulCase wide = c;
    wide.variant = variant, wide.m = 3, wide.k = 2, wide.n = 2 * side_of_tile(variant) + 3;
    auto judged = call_of(wide), first = call_of(wide);
    first.allocate();
    Trial trial(judged.bind(matmul), first.bind(matmul), first.bind(matmul));
    require_far_ends(trial, c.a_values.seed);
  }
}

// A matrix of one column, with so many rows that a grid's blocks take `turns` turns over them; the
// last turn has three rows.
ScheduledMatmulCase beyond_the_grid(const ScheduledMatmulCase& c, MatmulVariant variant,
                                    std::int64_t turns, std::int64_t k) {
  ScheduledMatmulCase tall = c;
  tall.variant = variant;
  tall.m = (turns - 1) * TallGrid::kRowsOfBlocks * block_side(variant) + 3, tall.n = 1, tall.k = k;
  tall.a_gap = tall.b_gap = tall.c_gap = 0;
  tall.poison = Poison::kNaN;  // which an unwritten row cannot match
  return tall;
}

void require_chain_beyond_the_grid(const Matmul& matmul, const ScheduledMatmulCase& tall) {
  const TallGrid grid(tall.poison);
  const std::vector<float> a = tall.a(), b(tall.k, 3);
  std::vector<float> product = tall.launch_in_memory(matmul, a, b).fetch();
  const auto chain =
      reference::matmul_chain(ConstMap(a.data(), tall.m, tall.k), ConstMap(b.data(), tall.k, 1));
  grid.complete(product, chain);
  REQUIRE_WITHIN_BOUND(product, reference::exactly(chain), tall.where());
}

// On the variant with the smallest blocks, because tiles of every side share one template.
void covers_rows_beyond_the_grid(const Matmul& matmul, const ScheduledMatmulCase& c) {
  require_chain_beyond_the_grid(matmul, beyond_the_grid(c, MatmulVariant::kTiled8, 2, 1));
}

// On the variant without tiles. For k = 0, where a row is only zeros, nvcc unrolls four turns of
// the loop over rows; a grid with four turns executes all of that code. Races are not checked,
// because that would take half of the time: the threads share no memory but C.
void covers_rows_beyond_the_grid_without_tiles(const Matmul& matmul, const ScheduledMatmulCase& c) {
  const WithoutRaceSearch quick;
  require_chain_beyond_the_grid(matmul, beyond_the_grid(c, MatmulVariant::kGlobal, 2, 1));
  const ScheduledMatmulCase zeros = beyond_the_grid(c, MatmulVariant::kGlobal, 4, 0);
  const TallGrid grid(zeros.poison);
  const std::vector<float> expected(zeros.m);
  std::vector<float> product = zeros.launch_in_memory(matmul, zeros.a(), zeros.b()).fetch();
  grid.complete(product, expected);
  REQUIRE_BITWISE_EQUAL(product, expected, zeros.where());
}

// On the variants that the previous two laws omit.
void covers_rows_beyond_the_grid_by_large_tiles(const Matmul& matmul,
                                                const ScheduledMatmulCase& c) {
  for (const auto variant : {MatmulVariant::kTiled16, MatmulVariant::kTiled32})
    require_chain_beyond_the_grid(matmul, beyond_the_grid(c, variant, 2, 1));
}

void variants_agree_bit_for_bit(const Matmul& matmul, const MatmulCase& c) {
  MatmulCase variant = c;
  variant.variant = MatmulVariant::kGlobal;
  const std::vector<float> first = variant.launch(matmul);
  for (const auto other :
       {MatmulVariant::kTiled8, MatmulVariant::kTiled16, MatmulVariant::kTiled32}) {
    variant.variant = other;
    REQUIRE_BITWISE_EQUAL(variant.launch(matmul), first, variant.where());
  }
}

void is_exact_on_small_integers(const Matmul& matmul, const ExactMatmulCase& c) {
  const Eigen::ArrayXf exact = expected(c, c.a(), c.b()).value.cast<float>();
  REQUIRE_BITWISE_EQUAL(c.launch(matmul), std::vector<float>(exact.begin(), exact.end()),
                        c.where());
}

void by_the_identity_changes_nothing(const Matmul& matmul, const SquareMatmulCase& c) {
  std::vector<float> identity(c.m * c.m);
  for (std::int64_t i = 0; i < c.m; ++i) identity[i * c.m + i] = 1;
  const std::vector<float> a = c.a(), right = c.launch(matmul, a, identity),
                           left = c.launch(matmul, identity, a);
  for (std::size_t e = 0; e < a.size(); ++e) {
    REQUIRE_LAW(same(right[e], a[e]), "(A I)[{}] is {}, but A[{}] is {}", e, right[e], e, a[e]);
    REQUIRE_LAW(same(left[e], a[e]), "(I A)[{}] is {}, but A[{}] is {}", e, left[e], e, a[e]);
  }
}

// Both chains have equal products in the same order, with the factors exchanged, so the bits must
// be equal.
void transposes(const Matmul& matmul, const MatmulCase& c) {
  const std::vector<float> product = c.launch(matmul);
  MatmulCase other = c;
  std::swap(other.m, other.n);
  const std::vector<float> mirrored =
      other.launch(matmul, transposed(c.b(), c.k, c.n), transposed(c.a(), c.m, c.k));
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      const float here = product[i * c.n + j], there = mirrored[j * c.m + i];
      REQUIRE_LAW(same(here, there), "(A B)[{}][{}] is {}, but (B' A')[{}][{}] is {}", i, j, here,
                  j, i, there);
    }
  }
}

void distributes_over_sums(const Matmul& matmul, const ExactMatmulCase& c) {
  const std::vector<float> a = c.a(), b = c.b(),
                           other = make_values<float>(c.b_values, b.size(), kOther);
  std::vector<float> both(b.size());
  std::ranges::transform(b, other, both.begin(), std::plus<>());
  const std::vector<float> of_b = c.launch(matmul, a, b), of_other = c.launch(matmul, a, other),
                           of_both = c.launch(matmul, a, both);
  for (std::size_t e = 0; e < of_both.size(); ++e) {
    REQUIRE_LAW(of_both[e] == of_b[e] + of_other[e], "(A (B + D))[{}] is {}, but A B + A D is {}",
                e, of_both[e], of_b[e] + of_other[e]);
  }
}

void passes_freivalds_check(const Matmul& matmul, const LargeMatmulCase& c) {
  const std::vector<float> a = c.a(), b = c.b(), product = c.launch(matmul, a, b);
  constexpr int kRounds = 4;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto residual =
        reference::freivalds_residual(ConstMap(a.data(), c.m, c.k), ConstMap(b.data(), c.k, c.n),
                                      ConstMap(product.data(), c.m, c.n), c.a_values.seed + round);
    for (Eigen::Index i = 0; i < residual.value.size(); ++i) {
      REQUIRE_LAW(std::abs(residual.value(i)) <= residual.bound(i),
                  "row {}: (C r - A (B r)) is {:g}, but its bound is {:g}", i, residual.value(i),
                  residual.bound(i));
    }
  }
}

// Two rows of A, of B or of C that are further apart than 31 bits count: each matrix in turn.
void multiplies_rows_far_apart(const Matmul& matmul, const ScheduledMatmulCase& c) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 7;
  constexpr std::size_t kRow = 40 * sizeof(float), kBytes = kFar * sizeof(float) + kRow;
  require_capability({Capability::kGlobalBytes, kBytes + (std::size_t{1} << 30)});
  constexpr std::int64_t kSide = 33;
  SparseArray far("matrix", kBytes);
  for (const char which : {'a', 'b', 'c'}) {
    const std::int64_t m = which == 'b' ? kSide : 2, k = which == 'b' ? 2 : kSide, n = kSide;
    const std::vector<float> a = make_values<float>({ValueKind::kUniform, c.a_values.seed}, m * k,
                                                    kA),
                             b = make_values<float>({ValueKind::kUniform, c.b_values.seed}, k * n,
                                                    kB);
    const auto place_far = [&](const std::vector<float>& rows, std::int64_t columns) {
      for (std::int64_t i = 0; i < 2; ++i)
        far.write_elements<float>(i * kFar * sizeof(float),
                                  {rows.begin() + i * columns, rows.begin() + (i + 1) * columns});
    };
    if (which == 'a') place_far(a, k);
    if (which == 'b') place_far(b, n);
    if (which == 'c') place_far(std::vector<float>(2 * n, -1), n);
    const auto near_a = DeviceArray<float>::input("a", a, {}),
               near_b = DeviceArray<float>::input("b", b, {});
    const auto near_c = DeviceArray<float>::output("c", m * n, {});
    auto* const place = reinterpret_cast<float*>(far.data());
    const bool far_a = which == 'a', far_b = which == 'b', far_c = which == 'c';
    REQUIRE_CUDA(matmul(
        c.variant, MatrixView<const float>{far_a ? place : near_a.data(), m, k, far_a ? kFar : k},
        MatrixView<const float>{far_b ? place : near_b.data(), k, n, far_b ? kFar : n},
        MatrixView<float>{far_c ? place : near_c.data(), m, n, far_c ? kFar : n}, nullptr));
    std::vector<float> product = far.read_elements<float>(0, n);
    const std::vector<float> second = far.read_elements<float>(kFar * sizeof(float), n);
    product.insert(product.end(), second.begin(), second.end());
    const auto chain = reference::exactly(
        reference::matmul_chain(ConstMap(a.data(), m, k), ConstMap(b.data(), k, n)));
    if (far_c) {
      REQUIRE_WITHIN_BOUND(product, chain);
    } else {
      REQUIRE_WITHIN_BOUND(near_c, chain);
    }
  }
}

}  // namespace

Laws<Matmul> matmul_laws() {
  return with_batteries<call_of, ScheduledMatmulCase, Arrays::kStrided,
                        kSaysImmaterial | kSaysLengths>({
      no_work_law<call_of, MatmulCase, &MatmulCase::m, &MatmulCase::n>("LaunchesNothingForNoWork",
                                                                       {.cases = 50, .cost = 4}),
      refusal_law<call_of, ScheduledMatmulCase>("RefusesBadArguments", {.cases = 200, .cost = 4}),
      law("MatchesItsReference", matches_its_reference, {.cases = 1000}),
      law("KeepsItsRoundings", keeps_its_roundings, {.cases = 20, .cost = 10}),
      law("VariantsAgreeBitForBit", variants_agree_bit_for_bit, {.cases = 200, .cost = 4}),
      law("IsExactOnSmallIntegers", is_exact_on_small_integers, {.cases = 300}),
      law("ByTheIdentityChangesNothing", by_the_identity_changes_nothing,
          {.cases = 150, .cost = 2}),
      law("Transposes", transposes, {.cases = 150, .cost = 2}),
      law("DistributesOverSums", distributes_over_sums, {.cases = 150, .cost = 3}),
      law("PassesFreivaldsCheck", passes_freivalds_check, {.cases = 20, .cost = 30}),
      law("CoversFarColumns", covers_far_columns, {.cases = 3, .cost = 1000}),
      law("CoversRowsBeyondTheGrid", covers_rows_beyond_the_grid, {.cases = 1, .cost = 1000}),
      law("CoversRowsBeyondTheGridWithoutTiles", covers_rows_beyond_the_grid_without_tiles,
          {.cases = 1, .cost = 1000}),
      law("IsDeterministic", require_same_bits<ScheduledMatmulCase, Matmul>,
          {.cases = 10, .cost = 50}),
  });
}

Laws<Matmul> huge_matmul_laws() {
  return {
      law("PassesFreivaldsCheck",
          +[](const Matmul& matmul, const HugeMatmulCase& c) { passes_freivalds_check(matmul, c); },
          {.cases = 1}),
      law("MultipliesRowsFarApart", multiplies_rows_far_apart, {.cases = 4}),
      law("CoversRowsBeyondTheGridByLargeTiles", covers_rows_beyond_the_grid_by_large_tiles,
          {.cases = 1})};
}

}  // namespace lockstep::properties
