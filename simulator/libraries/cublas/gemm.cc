#include "simulator/libraries/cublas/gemm.h"

#include <cmath>
#include <string>
#include <type_traits>

namespace lockstep::cublas {
namespace {

bool is_one_of(Type type, std::initializer_list<Type> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// The addresses of one matrix of a batch.
struct Places {
  const std::byte *a = nullptr, *b = nullptr, *c = nullptr;
  std::byte* d = nullptr;
};

// What else becomes of results in float.
struct Finish {
  float factor = 1;
  float largest = 0;  // magnitude before the factor, of all that were stored; NaN where one is
};

void finish(std::vector<float>& values, Finish& by) {
  for (float& value : values) {
    const float magnitude = std::fabs(value);
    if (magnitude > by.largest || std::isnan(magnitude)) by.largest = magnitude;
    value *= by.factor;
  }
}

template <class T>
void compute(Access& access, const Gemm& g, T alpha, T beta, const Places& at, std::int64_t batch,
             const Epilogue& epilogue, Finish& last) {
  const Arithmetic& by = g.arithmetic;
  std::vector<T> values;
  if (at.a != nullptr) {
    values = product<T>({g.m(), g.n(), g.k, by.rounding, by.sums_in_f16},
                        {at.a, g.a.type, g.a.ld, g.op_a}, {at.b, g.b.type, g.b.ld, g.op_b});
  } else {
    values.resize(static_cast<std::size_t>(g.m() * g.n()));
  }
  T* value = values.data();
  for (std::int64_t column = 0; column < g.n(); ++column) {
    for (std::int64_t row = 0; row < g.m(); ++row, ++value) {
      *value *= alpha;
      if (at.c != nullptr) *value += beta * load<T>(g.c.type, at.c + offset(g.c, row, column));
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    if (epilogue) epilogue(access, batch, values);
    if (last.factor != 1 || g.largest != nullptr) finish(values, last);
  }
  const Matrix& to = g.d.at == nullptr ? g.c : g.d;
  value = values.data();
  for (std::int64_t column = 0; column < g.n(); ++column) {
    for (std::int64_t row = 0; row < g.m(); ++row)
      store<T>(to.type, at.d + offset(to, row, column), *value++);
  }
}

// The matrix of a batch at a pointer that was read from device memory.
Matrix with_pointer(const Matrix& m, const void* at, const std::string& name) {
  Matrix one = m;
  one.at = at;
  one.name = name.c_str();
  one.batch = 1;
  return one;
}

const std::byte* step(const std::byte* at, const Matrix& m, std::int64_t batch) {
  return at == nullptr ? nullptr
                       : at + static_cast<std::size_t>(batch * m.stride) * size_of(m.type);
}

// Computes the sums in type T. If the sums are integers, alpha and beta have another type.
template <class T>
void run_in(Access& access, const Gemm& g, const Epilogue& epilogue) {
  T alpha = access.value<T>(g.alpha);
  const T beta = access.value<T>(g.beta);
  const bool multiplies = alpha != T{} && g.k > 0, adds = beta != T{};
  Finish last;
  if constexpr (std::is_same_v<T, float>) {
    if (multiplies)
      for (const Scalar& factor : g.factors) alpha *= access.value<float>(factor);
    for (const Scalar& factor : g.result_factors) last.factor *= access.value<float>(factor);
  }
  access.use_workspace(g.workspace, g.workspace_bytes);
  const bool in_place = g.d.at == nullptr;
  if (!g.pointers) {
    Places at;
    if (multiplies) {
      at.a = access.read_alone(g.a);
      at.b = access.read_alone(g.b);
    }
    if (adds) at.c = access.read(g.c);
    const Matrix& to = in_place ? g.c : g.d;
    at.d = access.write(to);
    for (std::int64_t i = 0; i < g.batch; ++i) {
      const Places one{step(at.a, g.a, i), step(at.b, g.b, i), step(at.c, g.c, i),
                       at.d + static_cast<std::size_t>(i * to.stride) * size_of(to.type)};
      compute<T>(access, g, alpha, beta, one, i, epilogue, last);
    }
    if (g.largest != nullptr)
      access.give<float>({.at = g.largest, .on_device = true, .type = Type::kF32}, last.largest);
    return;
  }
  const auto as = access.read_pointers("Aarray", g.a.at, g.batch),
             bs = access.read_pointers("Barray", g.b.at, g.batch),
             cs = access.read_pointers("Carray", g.c.at, g.batch);
  for (std::int64_t i = 0; i < g.batch; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string number = "array[" + std::to_string(i) + "]", a = "A" + number,
                      b = "B" + number, c = "C" + number;
    Places one;
    if (multiplies) {
      one.a = access.read_alone(with_pointer(g.a, as[at], a));
      one.b = access.read_alone(with_pointer(g.b, bs[at], b));
    }
    if (adds) one.c = access.read(with_pointer(g.c, cs[at], c));
    one.d = access.write(with_pointer(g.c, cs[at], c));
    compute<T>(access, g, alpha, beta, one, i, epilogue, last);
  }
}

}  // namespace

bool find_arithmetic(cublasComputeType_t compute, Type a, Type b, Type c, Arithmetic* result) {
  *result = {};
  if (a != b) return false;
  const bool is_complex = a == Type::kC32 || a == Type::kC64;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      result->scale = Type::kF16;
      result->sums_in_f16 = true;
      return a == Type::kF16 && c == Type::kF16;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      result->sums = result->scale = Type::kI32;
      return a == Type::kI8 && c == Type::kI32;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      result->sums = result->scale = a;
      return a == c && is_one_of(a, {Type::kF64, Type::kC64});
    case CUBLAS_COMPUTE_32F_FAST_16F: result->rounding = Rounding::kF16; break;
    case CUBLAS_COMPUTE_32F_FAST_16BF: result->rounding = Rounding::kBF16; break;
    case CUBLAS_COMPUTE_32F_FAST_TF32: result->rounding = Rounding::kTF32; break;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: break;
    default: return false;
  }
  if (is_complex) {
    result->sums = result->scale = Type::kC32;
    return a == Type::kC32 && c == Type::kC32;
  }
  if (a == Type::kF32) return c == Type::kF32;
  if (result->rounding != Rounding::kNone) return false;
  return (is_one_of(a, {Type::kF16, Type::kBF16}) && (c == a || c == Type::kF32)) ||
         (a == Type::kI8 && c == Type::kF32);
}

void run(Access& access, const Gemm& gemm, const Epilogue& epilogue) {
  with_computed(gemm.arithmetic.sums,
                [&](auto zero) { run_in<decltype(zero)>(access, gemm, epilogue); });
}

}  // namespace lockstep::cublas
