#include "properties/tensor_matmul_scaled.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/contract.h"
#include "harness/property/field.h"
#include "harness/property/rows.h"
#include "harness/property/values.h"
#include "properties/contract_laws.h"
#include "properties/needing.h"
#include "reference/tensor_matmul_scaled.h"

namespace lockstep::properties {
namespace {

using kernels::ScaledElement;
using kernels::TensorView;
using Bytes = std::vector<std::uint8_t>;
using Input = TensorView<const std::uint8_t>;

// Streams of make_values(): one per array.
enum Stream : std::uint64_t { kA, kB, kScalesOfA, kScalesOfB, kC };

// The operands of a launch: dense matrices.
struct Operands {
  Bytes a, a_scales, b, b_scales;
  std::vector<float> c;
};

// k counts bytes.
struct ScaledCase {
  std::int64_t m = 0, n = 0, k = 0;
  ScaledElement element = ScaledElement::kMxf8;
  int a_alignment = 1, b_alignment = 1;  // bytes: of the first element, and of the stride
  int a_gap = 0, b_gap = 0, scales_gap = 0, c_gap = 0, d_gap = 0;  // elements behind a row
  int a_offset = 0, b_offset = 0, scales_offset = 0, c_offset = 0, d_offset = 0;
  Poison poison = Poison::kNaN;
  Values values, c_values;

  static void fields(ScaledCase& c, FieldVisitor& field) { fields_of(c, field, 70, 200); }
  static void fields_of(ScaledCase& c, FieldVisitor& field, std::int64_t side, std::int64_t depth) {
    const std::vector<ValueKind> kinds = {ValueKind::kSmallIntegers, ValueKind::kUniform,
                                          ValueKind::kWide, ValueKind::kSpecial};
    field("m", c.m, sizes(0, side));
    field("n", c.n, sizes(0, side));
    field("k", c.k, sizes(0, depth));
    field("element", c.element,
          choice<ScaledElement>({{"mxf8", ScaledElement::kMxf8}, {"nvf4", ScaledElement::kNvf4}}));
    field("a_alignment", c.a_alignment, one_of({16, 1}));
    field("b_alignment", c.b_alignment, one_of({16, 1}));
    for (auto& [name, gap] : {std::pair{"a_gap", &c.a_gap}, std::pair{"b_gap", &c.b_gap},
                              std::pair{"scales_gap", &c.scales_gap}, std::pair{"c_gap", &c.c_gap},
                              std::pair{"d_gap", &c.d_gap}})
      field(name, *gap, range(0, 9));
    for (auto& [name, offset] :
         {std::pair{"a_offset", &c.a_offset}, std::pair{"b_offset", &c.b_offset},
          std::pair{"scales_offset", &c.scales_offset}, std::pair{"c_offset", &c.c_offset},
          std::pair{"d_offset", &c.d_offset}})
      field(name, *offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of(kinds));
    field("c_values", c.c_values, values_of(kinds));
  }

  static std::int64_t aligned(std::int64_t bytes, int alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  std::int64_t each() const { return element == ScaledElement::kMxf8 ? 32 : 8; }
  std::int64_t scales() const { return (k + each() - 1) / each(); }
  std::int64_t a_stride() const { return aligned(k + a_gap, a_alignment); }
  std::int64_t b_stride() const { return aligned(k + b_gap, b_alignment); }
  std::int64_t scales_stride() const { return scales() + scales_gap; }

  Operands operands() const {
    return {elements(m * k, kA), scales_of(m * scales(), kScalesOfA), elements(n * k, kB),
            scales_of(n * scales(), kScalesOfB), make_values<float>(c_values, m * n, kC)};
  }
  std::vector<float> launch(const TensorMatmulScaled& matmul, const Operands& of) const;
  std::vector<float> launch(const TensorMatmulScaled& matmul) const {
    return launch(matmul, operands());
  }

 private:
  Bytes any(std::int64_t count, std::uint64_t stream) const {
    return make_values<std::uint8_t>({ValueKind::kUniform, values.seed}, count, stream);
  }
  // Small integers: 0, 1, 2 and their negatives. NaN of e4m3 only for special values.
  Bytes elements(std::int64_t count, std::uint64_t stream) const {
    constexpr std::uint8_t kSmallE4m3[] = {0, 0x38, 0x40, 0xb8, 0xc0},
                           kSmallE2m1[] = {0, 2, 4, 10, 12};
    Bytes bytes = any(count, stream);
    for (std::uint8_t& b : bytes) {
      if (values.kind == ValueKind::kSmallIntegers) {
        b = element == ScaledElement::kMxf8
                ? kSmallE4m3[b % 5]
                : static_cast<std::uint8_t>(kSmallE2m1[b % 5] | kSmallE2m1[b / 5 % 5] << 4);
      } else if (values.kind != ValueKind::kSpecial && element == ScaledElement::kMxf8 &&
                 (b & 0x7f) == 0x7f) {
        b ^= 0x41;
      }
    }
    return bytes;
  }
  // One for small integers; otherwise near one, or of all magnitudes.
  Bytes scales_of(std::int64_t count, std::uint64_t stream) const {
    const bool powers = element == ScaledElement::kMxf8;
    Bytes bytes = any(count, stream);
    for (std::uint8_t& b : bytes) {
      switch (values.kind) {
        case ValueKind::kSpecial: break;
        case ValueKind::kWide:
          b = static_cast<std::uint8_t>(powers ? 50 + b % 150 : b % 127);
          break;
        case ValueKind::kUniform:
          b = static_cast<std::uint8_t>(powers ? 124 + b % 7 : 0x28 + b % 32);
          break;
        default: b = powers ? 127 : 0x38;
      }
    }
    return bytes;
  }
};

// Of moderate size, for the batteries.
struct SmallScaledCase : ScaledCase {
  static void fields(SmallScaledCase& c, FieldVisitor& field) { fields_of(c, field, 40, 100); }
};

// A dense matrix with gaps between its rows, which a kernel must not use.
template <class T>
std::vector<T> spread(const std::vector<T>& dense, std::int64_t rows, std::int64_t columns,
                      std::int64_t stride, T between) {
  std::vector<T> wide(rows * stride, between);
  for (std::int64_t i = 0; i < rows; ++i)
    std::copy_n(dense.begin() + i * columns, columns, wide.begin() + i * stride);
  return wide;
}

std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
}

template <class Make>
Call<TensorMatmulScaled> call_with(const ScaledCase& c, Make operands) {
  Call<TensorMatmulScaled> call("tensor_matmul_scaled");
  for (const cudaDeviceAttr property :
       {cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
        cudaDevAttrMultiProcessorCount})
    call.reads(property);
  const std::int64_t scales = c.scales();
  auto& [element, a, a_scales, b, b_scales, addend, d] = call.arguments(
      c.element, Input{nullptr, c.m, c.k, c.a_stride()},
      Input{nullptr, c.m, scales, c.scales_stride()}, Input{nullptr, c.n, c.k, c.b_stride()},
      Input{nullptr, c.n, scales, c.scales_stride()},
      TensorView<const float>{nullptr, c.m, c.n, c.n + c.c_gap},
      TensorView<float>{nullptr, c.m, c.n, c.n + c.d_gap});
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const auto rows = [](std::int64_t columns, std::int64_t stride, int bytes) {
    return columns == 0 ? kAny : kAny / bytes / stride;
  };
  const auto strides = [](std::int64_t rows, std::int64_t columns, int bytes) {
    return Range{columns, rows == 0 || columns == 0 ? kAny : kAny / bytes / rows};
  };
  call.integer("element", Range{.least = 0, .most = 1, .here = {static_cast<Whole>(c.element)}},
               reinterpret_cast<std::uint8_t&>(element));
  call.integer("m",
               {0, std::min({rows(c.k, c.a_stride(), 1), rows(scales, c.scales_stride(), 1),
                             rows(c.n, c.n + c.c_gap, 4), rows(c.n, c.n + c.d_gap, 4)})},
               a.rows, a_scales.rows, addend.rows, d.rows);
  call.integer("n",
               {0, std::min({c.n + c.c_gap, c.n + c.d_gap, rows(c.k, c.b_stride(), 1),
                             rows(scales, c.scales_stride(), 1)})},
               b.rows, b_scales.rows, addend.columns, d.columns);
  // Values with the same number of scales.
  call.integer("k",
               {c.k == 0 ? 0 : (scales - 1) * c.each() + 1,
                std::min({c.a_stride(), c.b_stride(), scales * c.each()})},
               a.columns, b.columns);
  call.integer("scales", {scales, scales}, a_scales.columns, b_scales.columns);
  call.integer("a.stride", strides(c.m, c.k, 1), a.stride);
  call.integer("a_scales.stride", strides(c.m, scales, 1), a_scales.stride);
  call.integer("b.stride", strides(c.n, c.k, 1), b.stride);
  call.integer("b_scales.stride", strides(c.n, scales, 1), b_scales.stride);
  call.integer("c.stride", strides(c.m, c.n, 4), addend.stride);
  call.integer("d.stride", strides(c.m, c.n, 4), d.stride);

  constexpr std::uint8_t kNobodys = 0xff;
  const auto matrix = [&](const char* name, const std::uint8_t*& at, std::int64_t rows,
                          std::int64_t columns, std::int64_t stride, int offset,
                          Bytes Operands::*which) {
    call.input(name, at, {.count = extent(rows, columns, stride)}, {offset, c.poison},
               [=] { return spread(operands().*which, rows, columns, stride, kNobodys); });
  };
  const auto offset = [](int bytes, int alignment) {
    return static_cast<int>(ScaledCase::aligned(bytes, alignment));
  };
  matrix("a", a.data, c.m, c.k, c.a_stride(), offset(c.a_offset, c.a_alignment), &Operands::a);
  matrix("a_scales", a_scales.data, c.m, scales, c.scales_stride(), c.scales_offset,
         &Operands::a_scales);
  matrix("b", b.data, c.n, c.k, c.b_stride(), offset(c.b_offset, c.b_alignment), &Operands::b);
  matrix("b_scales", b_scales.data, c.n, scales, c.scales_stride(), c.scales_offset,
         &Operands::b_scales);
  call.input("c", addend.data, {.count = extent(c.m, c.n, c.n + c.c_gap)}, {c.c_offset, c.poison},
             [=, m = c.m, n = c.n, stride = c.n + c.c_gap] {
               return spread(operands().c, m, n, stride, std::numeric_limits<float>::quiet_NaN());
             });
  call.output<float>("d", d.data,
                     {.count = extent(c.m, c.n, c.n + c.d_gap), .room = c.m * (c.n + c.d_gap)},
                     {c.d_offset, c.poison});
  for (const char* const input : {"a", "a_scales", "b", "b_scales", "c"}) call.apart(input, "d");
  if (c.m < 2) {
    for (const char* const stride : {"a.stride", "a_scales.stride", "c.stride", "d.stride"})
      call.immaterial(stride);
  }
  if (c.n < 2)
    for (const char* const stride : {"b.stride", "b_scales.stride"}) call.immaterial(stride);
  call.rows("a", c.m, c.k, "a.stride", strides(c.m, c.k, 1), a.stride);
  call.rows("a_scales", c.m, scales, "a_scales.stride", strides(c.m, scales, 1), a_scales.stride);
  call.rows("b", c.n, c.k, "b.stride", strides(c.n, c.k, 1), b.stride);
  call.rows("b_scales", c.n, scales, "b_scales.stride", strides(c.n, scales, 1), b_scales.stride);
  call.rows("c", c.m, c.n, "c.stride", strides(c.m, c.n, 4), addend.stride);
  call.rows("d", c.m, c.n, "d.stride", strides(c.m, c.n, 4), d.stride);
  if (c.m > 0 && c.n > 0 && c.k > 0) {
    // A number of elements that wraps to 0 in 32 bits.
    const auto sides = [&a = a, &a_scales = a_scales, &b = b, &b_scales = b_scales,
                        &addend = addend, &d = d, each = c.each()](
                           std::int64_t rows_of_a, std::int64_t rows_of_b, std::int64_t bytes) {
      a.rows = a_scales.rows = addend.rows = d.rows = rows_of_a;
      b.rows = b_scales.rows = addend.columns = d.columns = addend.stride = d.stride = rows_of_b;
      a.columns = b.columns = a.stride = b.stride = bytes;
      a_scales.columns = b_scales.columns = a_scales.stride = b_scales.stride =
          (bytes + each - 1) / each;
    };
    constexpr std::int64_t k16Bits = std::int64_t{1} << 16;
    call.promise("d:65536x65536", [sides] { sides(k16Bits, k16Bits, 1); });
    call.promise("a:65536x65536", [sides] { sides(k16Bits, 1, k16Bits); });
    call.promise("b:65536x65536", [sides] { sides(1, k16Bits, k16Bits); });
  }
  call.mistake("more_rows_of_a", [&a = a] { ++a.rows; });
  call.mistake("more_rows_of_a_scales", [&a_scales = a_scales] { ++a_scales.rows; });
  call.mistake("more_scales_of_b", [&s = b_scales] { ++s.columns, ++s.stride; });
  call.mistake("more_columns_of_b", [&b = b] { ++b.columns, ++b.stride; });
  call.mistake("more_columns_of_d", [&d = d] { ++d.columns, ++d.stride; });
  return call;
}

Call<TensorMatmulScaled> scaled_call(const ScaledCase& c) {
  return call_with(c, [&c] { return c.operands(); });
}

std::vector<float> ScaledCase::launch(const TensorMatmulScaled& matmul, const Operands& of) const {
  auto call = call_with(*this, [&of] { return of; }).run(matmul);
  return fetch_rows(call.template take<float>("d"), m, n, n + d_gap);
}

// ---- The laws.

void matches_its_reference(const TensorMatmulScaled& matmul, const ScaledCase& c) {
  const Operands of = c.operands();
  const auto bytes = [](const Bytes& dense, std::int64_t rows, std::int64_t columns) {
    reference::RowMajorBytes m(rows, columns);
    std::copy(dense.begin(), dense.end(), m.data());
    return m;
  };
  const reference::ScaledRows a{bytes(of.a, c.m, c.k), bytes(of.a_scales, c.m, c.scales())},
      b{bytes(of.b, c.n, c.k), bytes(of.b_scales, c.n, c.scales())};
  reference::RowMajorD addend(c.m, c.n);
  std::copy(of.c.begin(), of.c.end(), addend.data());
  const auto type =
      c.element == ScaledElement::kMxf8 ? reference::Scaled::kMxf8 : reference::Scaled::kNvf4;
  const std::vector<float> d = c.launch(matmul, of);
  REQUIRE_WITHIN_BOUND(d, reference::tensor_matmul_scaled(type, a, b, addend));
  REQUIRE_WITHIN_BOUND(
      d, reference::exactly(reference::tensor_matmul_scaled_model(type, a, b, addend)));
}

void without_products_gives_c(const TensorMatmulScaled& matmul, const SmallScaledCase& c) {
  SmallScaledCase none = c;
  none.k = 0;
  REQUIRE_BITWISE_EQUAL(none.launch(matmul), none.operands().c);
}

// Columns `from` to `to` - 1 of dense rows.
Bytes columns_of(const Bytes& dense, std::int64_t rows, std::int64_t columns, std::int64_t from,
                 std::int64_t to) {
  Bytes out;
  for (std::int64_t i = 0; i < rows; ++i)
    out.insert(out.end(), dense.begin() + i * columns + from, dense.begin() + i * columns + to);
  return out;
}

// Computes the first steps, then the others from their result on.
void goes_on_from_its_result(const TensorMatmulScaled& matmul, const ScaledCase& c) {
  constexpr std::int64_t kStepBytes = 32;
  const std::int64_t split = c.k / 2 / kStepBytes * kStepBytes, scales = split / c.each();
  const Operands of = c.operands();
  ScaledCase front = c, back = c;
  front.k = split, back.k = c.k - split;
  const auto part = [&](const std::vector<float>& addend, std::int64_t from, std::int64_t to,
                        std::int64_t first, std::int64_t last) {
    return Operands{columns_of(of.a, c.m, c.k, from, to),
                    columns_of(of.a_scales, c.m, c.scales(), first, last),
                    columns_of(of.b, c.n, c.k, from, to),
                    columns_of(of.b_scales, c.n, c.scales(), first, last), addend};
  };
  const std::vector<float> half = front.launch(matmul, part(of.c, 0, split, 0, scales));
  REQUIRE_BITWISE_EQUAL(back.launch(matmul, part(half, split, c.k, scales, c.scales())),
                        c.launch(matmul, of));
}

// Doubled scales of A and halved scales of B leave every term unchanged.
void a_power_of_two_may_change_sides(const TensorMatmulScaled& matmul, const ScaledCase& given) {
  ScaledCase c = given;
  c.values.kind = ValueKind::kUniform;  // whose scales have room in both directions
  Operands of = c.operands();
  const std::vector<float> d = c.launch(matmul, of);
  const std::uint8_t twice = c.element == ScaledElement::kMxf8 ? 1 : 8;
  for (std::uint8_t& s : of.a_scales) s = static_cast<std::uint8_t>(s + twice);
  for (std::uint8_t& s : of.b_scales) s = static_cast<std::uint8_t>(s - twice);
  REQUIRE_BITWISE_EQUAL(c.launch(matmul, of), d);
}

// Two stages, two tiles in each direction, and each way to copy a factor.
void covers_tiles_and_stages(const TensorMatmulScaled& matmul, const SmallScaledCase& given) {
  for (const ScaledElement element : {ScaledElement::kMxf8, ScaledElement::kNvf4}) {
    for (const auto& [a_alignment, b_alignment] : {std::pair{16, 1}, std::pair{1, 16}}) {
      ScaledCase c = given;
      c.element = element;
      c.m = 131, c.n = 66, c.k = 128 + 40;
      c.a_alignment = a_alignment, c.b_alignment = b_alignment;
      c.a_gap = c.b_gap = 1;
      c.values.kind = ValueKind::kUniform;
      matches_its_reference(matmul, c);
    }
  }
}

// On a device without tensor memory, the launcher must return before any operation on the device.
void answers_on_each_device(const TensorMatmulScaled& matmul, const SmallScaledCase& given) {
  SmallScaledCase c = given;
  c.m = std::max<std::int64_t>(c.m, 1), c.n = std::max<std::int64_t>(c.n, 1);
  auto call = scaled_call(c);
  call.allocate();
  Answer answer;
  const std::vector<lockstepOperation> operations =
      operations_of([&] { answer = call.launch(matmul, nullptr); });
  REQUIRE_CUDA(cudaDeviceSynchronize());
  const bool has = device_properties().major == 10;
  const cudaError_t wanted = has ? cudaSuccess : cudaErrorNotSupported;
  REQUIRE_LAW(answer.error == wanted && answer.message.empty() == has, "answers {} ({}), not {}",
              cudaGetErrorName(answer.error), answer.message, cudaGetErrorName(wanted));
  REQUIRE_LAW(has || (operations.empty() && !answer.of_cuda), "{} came first",
              operations.empty() ? "CUDA's answer" : operations[0].call);
}

}  // namespace

Laws<TensorMatmulScaled> tensor_matmul_scaled_laws() {
  Laws<TensorMatmulScaled> laws = {
      no_work_law<scaled_call, SmallScaledCase, &ScaledCase::m, &ScaledCase::n>(
          "LaunchesNothingForNoWork", {.cases = 20, .cost = 4}),
      refusal_law<scaled_call, SmallScaledCase>("RefusesBadArguments", {.cases = 30, .cost = 4}),
      law("MatchesItsReference", matches_its_reference, {.cases = 30}),
      law("WithoutProductsGivesC", without_products_gives_c, {.cases = 10, .cost = 4}),
      law("GoesOnFromItsResult", goes_on_from_its_result, {.cases = 8, .cost = 3}),
      law("APowerOfTwoMayChangeSides", a_power_of_two_may_change_sides, {.cases = 8, .cost = 2}),
      law("CoversTilesAndStages", covers_tiles_and_stages, {.cases = 1, .cost = 100}),
  };
  laws = with_batteries<scaled_call, SmallScaledCase, Arrays::kStrided, kSaysImmaterial>(
      std::move(laws));
  for (auto& each : laws)
    each = needing<SmallScaledCase>(Requirement{Capability::kTensorMemory}, std::move(each));
  laws.push_back(law("AnswersOnEachDevice", answers_on_each_device, {.cases = 2, .cost = 20}));
  return laws;
}

}  // namespace lockstep::properties
