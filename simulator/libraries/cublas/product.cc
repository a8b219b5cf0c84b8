#include "simulator/libraries/cublas/product.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace lockstep::cublas {
namespace {

// A tile of the result stays in registers while k runs.
constexpr std::int64_t kRows = 16, kColumns = 4;
// The steps of a panel of A that fit into the first-level cache.
constexpr std::int64_t kSteps = 256, kStepsOfF16 = 16;

float rounded(float value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNone: return value;
    case Rounding::kF16: return round_to_f16(value);
    case Rounding::kBF16: return round_to_bf16(value);
    case Rounding::kTF32: return round_to_tf32(value);
  }
  return value;
}
C32 rounded(C32 value, Rounding rounding) {
  return {rounded(value.real(), rounding), rounded(value.imag(), rounding)};
}
template <class T>
T rounded(T value, Rounding) {
  return value;
}

// The element of op(A) in a row and column.
template <class T>
T element(const Operand& a, std::int64_t row, std::int64_t column, Rounding rounding) {
  if (a.op != Op::kNone) std::swap(row, column);
  const auto offset = static_cast<std::size_t>(row + column * a.ld);
  const T value = rounded(load<T>(a.type, a.at + offset * size_of(a.type)), rounding);
  return a.op == Op::kConjugateTranspose ? conjugate(value) : value;
}

// Packs rows of op(A), or columns of op(B), into panels of `width`. A panel stores the values of
// one step side by side. The last panel is padded with zeros, whose results are not used.
template <class T, class At>
std::vector<T> pack(std::int64_t count, std::int64_t k, std::int64_t width, At&& at) {
  const std::int64_t panels = (count + width - 1) / width;
  std::vector<T> packed(static_cast<std::size_t>(panels * width * k));
  for (std::int64_t p = 0; p < panels; ++p) {
    T* const to = packed.data() + p * width * k;
    const std::int64_t have = std::min(width, count - p * width);
    for (std::int64_t step = 0; step < k; ++step) {
      for (std::int64_t i = 0; i < have; ++i) to[step * width + i] = at(p * width + i, step);
    }
  }
  return packed;
}

// The processor's vectors: eight floats, four doubles and so on.
template <class T>
using Lanes [[gnu::vector_size(32)]] = T;

inline Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Lanes<double> multiply_add(Lanes<double> a, Lanes<double> b, Lanes<double> c) {
  return _mm256_fmadd_pd(a, b, c);
}
// Overflow wraps (-fwrapv).
inline Lanes<std::int32_t> multiply_add(Lanes<std::int32_t> a, Lanes<std::int32_t> b,
                                        Lanes<std::int32_t> c) {
  return a * b + c;
}

inline Lanes<float> in_all_lanes(float value) { return _mm256_set1_ps(value); }
inline Lanes<double> in_all_lanes(double value) { return _mm256_set1_pd(value); }
inline Lanes<std::int32_t> in_all_lanes(std::int32_t value) {
  return value - Lanes<std::int32_t>{};
}

// Adds `steps` products to each sum of a tile.
template <class T>
void add_tile(const T* a, const T* b, std::int64_t steps, T (&sums)[kColumns][kRows]) {
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr std::int64_t kLanes = 32 / sizeof(T);
    // As many as the processor has registers for.
    constexpr std::int64_t kParts = 2;
    for (std::int64_t row = 0; row < kRows; row += kParts * kLanes) {
      Lanes<T> tile[kColumns][kParts];
      for (std::int64_t j = 0; j < kColumns; ++j)
        std::memcpy(tile[j], sums[j] + row, sizeof tile[j]);
      const T *from_a = a + row, *from_b = b;
      for (std::int64_t step = 0; step < steps; ++step, from_a += kRows, from_b += kColumns) {
        Lanes<T> part[kParts];
        std::memcpy(part, from_a, sizeof part);
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < kColumns; ++j) {
          const Lanes<T> factor = in_all_lanes(from_b[j]);
          tile[j][0] = multiply_add(part[0], factor, tile[j][0]);
          tile[j][1] = multiply_add(part[1], factor, tile[j][1]);
        }
      }
      for (std::int64_t j = 0; j < kColumns; ++j)
        std::memcpy(sums[j] + row, tile[j], sizeof tile[j]);
    }
  } else {
    for (std::int64_t step = 0; step < steps; ++step, a += kRows, b += kColumns) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        for (std::int64_t i = 0; i < kRows; ++i)
          sums[j][i] = cublas::multiply_add(a[i], b[j], sums[j][i]);
      }
    }
  }
}

}  // namespace

template <class T>
std::vector<T> product(const ProductShape& shape, const Operand& a, const Operand& b) {
  const auto& [m, n, k, rounding, sums_in_f16] = shape;
  std::vector<T> result(static_cast<std::size_t>(m * n));
  if (k == 0) return result;
  const auto rows = pack<T>(m, k, kRows, [&](std::int64_t row, std::int64_t step) {
    return element<T>(a, row, step, shape.rounding);
  });
  const auto columns = pack<T>(n, k, kColumns, [&](std::int64_t column, std::int64_t step) {
    return element<T>(b, step, column, shape.rounding);
  });
  const std::int64_t most = sums_in_f16 ? kStepsOfF16 : kSteps;
  for (std::int64_t row = 0; row < m; row += kRows) {
    for (std::int64_t column = 0; column < n; column += kColumns) {
      T sums[kColumns][kRows] = {};
      for (std::int64_t step = 0; step < k; step += most) {
        add_tile(rows.data() + row * k + step * kRows,
                 columns.data() + column * k + step * kColumns, std::min(most, k - step), sums);
        if constexpr (std::is_same_v<T, float>) {
          if (sums_in_f16) {
            for (auto& of_column : sums)
              for (float& sum : of_column) sum = round_to_f16(sum);
          }
        }
      }
      for (std::int64_t j = 0; j < std::min(kColumns, n - column); ++j)
        std::copy_n(sums[j], std::min(kRows, m - row), result.data() + (column + j) * m + row);
    }
  }
  return result;
}

template std::vector<float> product(const ProductShape&, const Operand&, const Operand&);
template std::vector<double> product(const ProductShape&, const Operand&, const Operand&);
template std::vector<C32> product(const ProductShape&, const Operand&, const Operand&);
template std::vector<C64> product(const ProductShape&, const Operand&, const Operand&);
template std::vector<std::int32_t> product(const ProductShape&, const Operand&, const Operand&);

}  // namespace lockstep::cublas
