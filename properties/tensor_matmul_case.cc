#include "properties/tensor_matmul_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/property/compare.h"
#include "harness/property/rows.h"

namespace lockstep::properties {
namespace {

using kernels::TensorView;

// Streams of make_values(): one per array.
enum Sequence : std::uint64_t { kA, kB, kC, kOther };

template <class T>
Elements bits_of(const std::vector<T>& values) {
  Elements bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bits[i], &values[i], sizeof(T));
  return bits;
}

template <class T>
std::vector<T> typed(const Elements& bits) {
  std::vector<T> values(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&values[i], &bits[i], sizeof(T));
  return values;
}

// The number of e4m3 next to `value` toward zero: at most 448, never NaN.
std::uint64_t to_e4m3(float value) {
  const std::uint64_t sign = std::signbit(value) ? 0x80 : 0;
  std::uint64_t bits = 0;
  while (bits < 0x7e && reference::value_of(reference::Factor::kE4m3, bits + 1) <= std::fabs(value))
    ++bits;
  return sign | bits;
}

Elements factors(MatrixElement element, const Values& v, std::size_t n, std::uint64_t stream) {
  switch (element) {
    case MatrixElement::kF16: return bits_of(make_values<Half>(v, n, stream));
    case MatrixElement::kTf32: return bits_of(make_values<float>(v, n, stream));
    case MatrixElement::kF64: return bits_of(make_values<double>(v, n, stream));
    case MatrixElement::kS8: return bits_of(make_values<std::int8_t>(v, n, stream));
    case MatrixElement::kBf16: {
      Elements bits = bits_of(make_values<float>(v, n, stream));
      for (auto& b : bits) b >>= 16;
      return bits;
    }
    case MatrixElement::kE4m3: break;
  }
  if (v.kind == ValueKind::kWide || v.kind == ValueKind::kSpecial || v.kind == ValueKind::kMixed) {
    // Any byte; NaN only for special values.
    Elements bits = bits_of(make_values<std::uint8_t>({ValueKind::kUniform, v.seed}, n, stream));
    for (auto& b : bits) {
      if (v.kind == ValueKind::kWide && (b & 0x7f) == 0x7f) b ^= 0x41;
    }
    return bits;
  }
  const std::vector<float> values = make_values<float>(v, n, stream);
  Elements bits(n);
  std::ranges::transform(values, bits.begin(), to_e4m3);
  return bits;
}

Elements addends(MatrixElement element, const Values& v, std::size_t n) {
  switch (element) {
    case MatrixElement::kF64: return bits_of(make_values<double>(v, n, kC));
    case MatrixElement::kS8: return bits_of(make_values<std::int32_t>(v, n, kC));
    default: return bits_of(make_values<float>(v, n, kC));
  }
}

// A dense matrix with elements of all ones between its rows, which a kernel must not use.
Elements spread(const Elements& dense, std::int64_t rows, std::int64_t columns,
                std::int64_t stride) {
  Elements wide(rows * stride, ~std::uint64_t{0});
  for (std::int64_t i = 0; i < rows; ++i)
    std::copy_n(dense.begin() + i * columns, columns, wide.begin() + i * stride);
  return wide;
}

// The elements from the first to the last; those between the end of the last row and its stride are
// not part of the matrix.
std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
}

// An input of elements with this size in bytes.
template <class Contents>
void add_input(Call<TensorMatmul>& call, const char* name, const void*& at, int bytes,
               std::int64_t count, const Layout& layout, Contents contents) {
  const auto as = [&]<class T>(T) {
    call.input(name, at, {.count = count}, layout, [contents] { return typed<T>(contents()); });
  };
  if (bytes == 1) as(std::uint8_t{});
  if (bytes == 2) as(std::uint16_t{});
  if (bytes == 4) as(std::uint32_t{});
  if (bytes == 8) as(std::uint64_t{});
}

template <class A, class B, class C>
Call<TensorMatmul> call_with(const TensorMatmulCase& c, A a_contents, B b_contents, C c_contents) {
  Call<TensorMatmul> call("tensor_matmul");
  auto& [path, element, a, b, addend, d] =
      call.arguments(c.path, c.element, TensorView<const void>{nullptr, c.m, c.k, c.a_stride()},
                     TensorView<const void>{nullptr, c.n, c.k, c.b_stride()},
                     TensorView<const void>{nullptr, c.m, c.n, c.c_stride()},
                     TensorView<void>{nullptr, c.m, c.n, c.d_stride()});
  // The number of addressable rows; any number for a matrix without columns.
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const int factor = bytes_of(c.element), result = result_bytes_of(c.element);
  const auto rows = [](std::int64_t columns, std::int64_t stride, int bytes) {
    return columns == 0 ? kAny : kAny / bytes / stride;
  };
  const auto strides = [](std::int64_t rows, std::int64_t columns, int bytes) {
    return Range{columns, rows == 0 || columns == 0 ? kAny : kAny / bytes / rows};
  };
  // Other paths and types need other arguments, or are not available on this device.
  const auto only = [](std::uint8_t last, auto value) {
    return Range{.least = 0, .most = last, .here = {static_cast<Whole>(value)}};
  };
  for (const cudaDeviceAttr property :
       {cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
        cudaDevAttrMultiProcessorCount})
    call.reads(property);
  call.integer("path", only(7, c.path), reinterpret_cast<std::uint8_t&>(path));
  call.integer("element", only(5, c.element), reinterpret_cast<std::uint8_t&>(element));
  using enum TensorMatmulPath;
  std::vector<Whole> paths;  // the device's paths for these elements
  const int device = 10 * device_properties().major + device_properties().minor;
  const bool eight_bits = c.element == MatrixElement::kE4m3;
  if (c.element == MatrixElement::kF16) paths.push_back(static_cast<Whole>(kWmma));
  if (device >= (eight_bits ? 89 : 80)) paths.push_back(static_cast<Whole>(kMma));
  if (device == 90 &&
      (eight_bits || c.element == MatrixElement::kF16 || c.element == MatrixElement::kBf16)) {
    for (const TensorMatmulPath wgmma : {kWgmma, kWgmmaCluster, kWgmmaWide})
      paths.push_back(static_cast<Whole>(wgmma));
  }
  if (!paths.empty()) call.own_kernels("path", std::move(paths));
  call.integer("m",
               {0, std::min({rows(c.k, c.a_stride(), factor), rows(c.n, c.c_stride(), result),
                             rows(c.n, c.d_stride(), result)})},
               a.rows, addend.rows, d.rows);
  call.integer("n", {0, std::min({c.c_stride(), c.d_stride(), rows(c.k, c.b_stride(), factor)})},
               b.rows, addend.columns, d.columns);
  call.integer("k", {0, std::min(c.a_stride(), c.b_stride())}, a.columns, b.columns);
  call.integer("a.stride", strides(c.m, c.k, factor), a.stride);
  call.integer("b.stride", strides(c.n, c.k, factor), b.stride);
  call.integer("c.stride", strides(c.m, c.n, result), addend.stride);
  call.integer("d.stride", strides(c.m, c.n, result), d.stride);

  const auto offset = [&c](int elements, int alignment) {
    return static_cast<int>(c.aligned(elements, alignment));
  };
  add_input(call, "a", a.data, factor, extent(c.m, c.k, c.a_stride()),
            {offset(c.a_offset, c.a_alignment), c.poison},
            [&c, a_contents] { return spread(a_contents(), c.m, c.k, c.a_stride()); });
  add_input(call, "b", b.data, factor, extent(c.n, c.k, c.b_stride()),
            {offset(c.b_offset, c.b_alignment), c.poison},
            [&c, b_contents] { return spread(b_contents(), c.n, c.k, c.b_stride()); });
  add_input(call, "c", addend.data, result, extent(c.m, c.n, c.c_stride()), {c.c_offset, c.poison},
            [&c, c_contents] { return spread(c_contents(), c.m, c.n, c.c_stride()); });
  const Footprint footprint = {.count = extent(c.m, c.n, c.d_stride()), .room = c.m * c.d_stride()};
  const Layout layout = {c.d_offset, c.poison};
  switch (c.element) {
    case MatrixElement::kF64: call.output<double>("d", d.data, footprint, layout); break;
    case MatrixElement::kS8: call.output<std::int32_t>("d", d.data, footprint, layout); break;
    default: call.output<float>("d", d.data, footprint, layout);
  }
  for (const char* const input : {"a", "b", "c"}) call.apart(input, "d");
  if (c.m < 2)
    for (const char* const stride : {"a.stride", "c.stride", "d.stride"}) call.immaterial(stride);
  if (c.n < 2) call.immaterial("b.stride");
  call.rows("a", c.m, c.k, "a.stride", strides(c.m, c.k, factor), a.stride);
  call.rows("b", c.n, c.k, "b.stride", strides(c.n, c.k, factor), b.stride);
  call.rows("c", c.m, c.n, "c.stride", strides(c.m, c.n, result), addend.stride);
  call.rows("d", c.m, c.n, "d.stride", strides(c.m, c.n, result), d.stride);

  if (c.m > 0 && c.n > 0 && c.k > 0) {
    // A number of elements that wraps to 0 in 32 bits.
    const auto sides = [&a = a, &b = b, &addend = addend, &d = d](std::int64_t m, std::int64_t n,
                                                                  std::int64_t k) {
      a.rows = addend.rows = d.rows = m,
      b.rows = addend.columns = d.columns = addend.stride = d.stride = n;
      a.columns = b.columns = a.stride = b.stride = k;
    };
    constexpr std::int64_t k16Bits = std::int64_t{1} << 16;
    call.promise("d:65536x65536", [sides] { sides(k16Bits, k16Bits, 1); });
    call.promise("a:65536x65536", [sides] { sides(k16Bits, 1, k16Bits); });
    call.promise("b:65536x65536", [sides] { sides(1, k16Bits, k16Bits); });
  }
  call.mistake("more_rows_of_a", [&a = a] { ++a.rows; });
  call.mistake("more_rows_of_b", [&b = b] { ++b.rows; });
  call.mistake("more_columns_of_a", [&a = a] { ++a.columns, ++a.stride; });
  call.mistake("more_columns_of_b", [&b = b] { ++b.columns, ++b.stride; });
  call.mistake("more_rows_of_c", [&addend = addend] { ++addend.rows; });
  call.mistake("more_columns_of_d", [&d = d] { ++d.columns, ++d.stride; });
  // s8 has only mma.
  call.mistake("s8_without_a_path", [&path = path, &element = element] {
    element = MatrixElement::kS8;
    if (path == TensorMatmulPath::kMma) path = TensorMatmulPath::kWgmma;
  });
  return call;
}

reference::RowMajorD matrix(const Elements& bits, std::int64_t rows, std::int64_t columns,
                            auto value_of) {
  reference::RowMajorD m(rows, columns);
  for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = value_of(bits[e]);
  return m;
}

}  // namespace

int bytes_of(MatrixElement element) {
  constexpr int kBytes[] = {2, 2, 4, 8, 1, 1};
  return kBytes[static_cast<int>(element)];
}

int result_bytes_of(MatrixElement element) { return element == MatrixElement::kF64 ? 8 : 4; }

reference::Factor factor_of(MatrixElement element) {
  using enum reference::Factor;
  constexpr reference::Factor kFactors[] = {kF16, kBf16, kTf32, kF64, kS8, kE4m3};
  return kFactors[static_cast<int>(element)];
}

std::uint64_t bits_of(MatrixElement element, double value) {
  const auto as_float = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  switch (element) {
    case MatrixElement::kF16: return to_half(value).bits;
    case MatrixElement::kBf16: return as_float >> 16;
    case MatrixElement::kTf32: return as_float;
    case MatrixElement::kF64: return std::bit_cast<std::uint64_t>(value);
    case MatrixElement::kS8: return static_cast<std::uint8_t>(static_cast<int>(value));
    case MatrixElement::kE4m3: break;
  }
  return to_e4m3(static_cast<float>(value));
}

std::uint64_t result_bits_of(MatrixElement element, double value) {
  if (element == MatrixElement::kF64) return std::bit_cast<std::uint64_t>(value);
  if (element == MatrixElement::kS8)
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

double result_of(MatrixElement element, std::uint64_t bits) {
  if (element == MatrixElement::kF64) return std::bit_cast<double>(bits);
  if (element == MatrixElement::kS8) return static_cast<std::int32_t>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

void TensorMatmulCase::fields_of(TensorMatmulCase& c, FieldVisitor& field,
                                 const Domain<TensorMatmulPath>& paths,
                                 const Domain<MatrixElement>& elements,
                                 const std::vector<ValueKind>& values,
                                 const Domain<std::int64_t>& side) {
  field("m", c.m, side);
  field("n", c.n, side);
  field("k", c.k, side);
  field("path", c.path, paths);
  field("element", c.element, elements);
  field("a_alignment", c.a_alignment, one_of({16, 4, 1}));
  field("b_alignment", c.b_alignment, one_of({16, 4, 1}));
  field("a_gap", c.a_gap, range(0, 9));
  field("b_gap", c.b_gap, range(0, 9));
  field("c_gap", c.c_gap, range(0, 9));
  field("d_gap", c.d_gap, range(0, 9));
  field("a_offset", c.a_offset, range(0, 31));
  field("b_offset", c.b_offset, range(0, 31));
  field("c_offset", c.c_offset, range(0, 31));
  field("d_offset", c.d_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("a_values", c.a_values, values_of(values));
  field("b_values", c.b_values, values_of(values));
  field("c_values", c.c_values, values_of(values));
}

void TensorMatmulCase::normalise() {
  // A product of three long sides would dominate a run's time and test nothing new.
  constexpr std::int64_t kLong = 70;
  if (m > kLong && k > kLong && n > kLong) n = n % kLong;
}

std::int64_t TensorMatmulCase::work() const {
  const bool wide = path == TensorMatmulPath::kWgmmaWide,
             warpgroup = path >= TensorMatmulPath::kWgmma;
  const std::int64_t rows = path >= TensorMatmulPath::kWgmmaCluster ? 128 : 64,
                     columns = wide ? 256 : 64, depth = (wide ? 128 : 64) / bytes_of(element);
  const auto whole = [](std::int64_t size, std::int64_t unit) {
    return (size + unit - 1) / unit * unit;
  };
  const std::int64_t products = whole(m, rows) * whole(n, columns) * whole(k, depth);
  return products / (warpgroup ? 2 : 16);
}

std::int64_t TensorMatmulCase::aligned(std::int64_t elements, int alignment) const {
  const std::int64_t unit = std::max(alignment / bytes_of(element), 1);
  return (elements + unit - 1) / unit * unit;
}

Elements TensorMatmulCase::a() const { return factors(element, a_values, m * k, kA); }
Elements TensorMatmulCase::b() const { return factors(element, b_values, n * k, kB); }
Elements TensorMatmulCase::c() const { return addends(element, c_values, m * n); }
Elements TensorMatmulCase::other_b() const { return factors(element, b_values, n * k, kOther); }

Elements TensorMatmulCase::launch(const TensorMatmul& matmul, const Elements& a, const Elements& b,
                                  const Elements& c) const {
  auto call = call_with(
                  *this, [&] { return a; }, [&] { return b; }, [&] { return c; })
                  .run(matmul);
  const auto fetch = [&]<class T>(T) {
    return bits_of(fetch_rows(call.template take<T>("d"), m, n, d_stride()));
  };
  if (element == MatrixElement::kF64) return fetch(double{});
  if (element == MatrixElement::kS8) return fetch(std::int32_t{});
  return fetch(float{});
}

Call<TensorMatmul> tensor_matmul_call(const TensorMatmulCase& c) {
  return call_with(
      c, [&c] { return c.a(); }, [&c] { return c.b(); }, [&c] { return c.c(); });
}

void require_product(const TensorMatmulCase& c, const Elements& d, const Elements& a,
                     const Elements& b, const Elements& addend) {
  const auto factor = [&c](std::uint64_t bits) {
    return reference::value_of(factor_of(c.element), bits);
  };
  const auto result = [&c](std::uint64_t bits) { return result_of(c.element, bits); };
  const reference::RowMajorD ma = matrix(a, c.m, c.k, factor), mb = matrix(b, c.n, c.k, factor),
                             mc = matrix(addend, c.m, c.n, result);
  if (c.element == MatrixElement::kS8) {
    REQUIRE_BITWISE_EQUAL(typed<std::int32_t>(d), reference::tensor_matmul_s8(ma, mb, mc));
  } else if (c.element == MatrixElement::kF64) {
    const auto product = typed<double>(d);
    REQUIRE_WITHIN_BOUND(product, reference::tensor_matmul_f64(ma, mb, mc));
    REQUIRE_WITHIN_BOUND(product,
                         reference::exactly(reference::tensor_matmul_f64_chain(ma, mb, mc)));
  } else {
    const DeviceProperties& device = device_properties();
    const bool warpgroup = c.path != TensorMatmulPath::kWmma && c.path != TensorMatmulPath::kMma;
    const auto unit =
        reference::matrix_unit(factor_of(c.element), 10 * device.major + device.minor, warpgroup);
    const auto product = typed<float>(d);
    REQUIRE_WITHIN_BOUND(product, reference::tensor_matmul(ma, mb, mc, unit));
    REQUIRE_WITHIN_BOUND(product,
                         reference::exactly(reference::tensor_matmul_model(ma, mb, mc, unit)));
  }
}

}  // namespace lockstep::properties
