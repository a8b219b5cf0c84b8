// Level 2: gemv for one matrix or a batch, ger, trsv (cuBLAS, "cuBLAS Level-2 Function Reference").
#include <cstdint>
#include <string>

#include "simulator/libraries/cublas/handle.h"
#include "simulator/libraries/cublas/product.h"
#include "simulator/libraries/cublas/triangle.h"

namespace lockstep::cublas {
namespace {

// y = alpha op(A) x + beta y.
struct MatrixVector {
  Op op = Op::kNone;
  Matrix a;
  Vector x, y;
  Scalar alpha, beta;
};

template <class T>
void compute(Access& access, const MatrixVector& g, T alpha, T beta) {
  std::vector<T> values(static_cast<std::size_t>(g.y.n));
  if (alpha != T{} && g.x.n > 0) {
    const std::byte* const a = access.read_alone(g.a);
    const auto x = gather<T>(g.x, access.read_alone(g.x));
    values = product<T>({g.y.n, 1, g.x.n}, {a, g.a.type, g.a.ld, g.op},
                        {reinterpret_cast<const std::byte*>(x.data()), g.a.type, g.x.n});
    for (T& value : values) value *= alpha;
  }
  if (beta != T{}) {
    const auto y = gather<T>(g.y, access.read(g.y));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += beta * y[i];
  }
  scatter(g.y, access.write(g.y), values);
}

struct VectorBatch {
  std::int64_t count = 1, stride_a = 0, stride_x = 0, stride_y = 0;
  bool pointers = false;
};

const void* step(const void* at, std::int64_t elements, Type type) {
  return static_cast<const std::byte*>(at) + elements * static_cast<std::int64_t>(size_of(type));
}

void run(Access& access, const MatrixVector& g, const VectorBatch& batch) {
  with_floating(g.a.type, [&](auto zero) {
    using T = decltype(zero);
    const T alpha = access.value<T>(g.alpha), beta = access.value<T>(g.beta);
    std::vector<const void*> a, x, y;
    if (batch.pointers) {
      a = access.read_pointers("Aarray", g.a.at, batch.count);
      x = access.read_pointers("xarray", g.x.at, batch.count);
      y = access.read_pointers("yarray", g.y.at, batch.count);
    }
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::string number = "[" + std::to_string(i) + "]", of_a = "A" + number,
                        of_x = "x" + number, of_y = "y" + number;
      MatrixVector one = g;
      if (batch.count > 1 || batch.pointers)
        one.a.name = of_a.c_str(), one.x.name = of_x.c_str(), one.y.name = of_y.c_str();
      one.a.at = batch.pointers ? a[at] : step(g.a.at, i * batch.stride_a, g.a.type);
      one.x.at = batch.pointers ? x[at] : step(g.x.at, i * batch.stride_x, g.a.type);
      one.y.at = batch.pointers ? y[at] : step(g.y.at, i * batch.stride_y, g.a.type);
      compute<T>(access, one, alpha, beta);
    }
  });
}

cublasStatus_t gemv(const char* call, cublasHandle_t handle, Type type, int op, std::int64_t m,
                    std::int64_t n, const void* alpha, const void* a, std::int64_t lda,
                    const void* x, std::int64_t incx, const void* beta, const void* y,
                    std::int64_t incy, const VectorBatch& batch = {}) {
  Check check(call, handle);
  check.sizes({m, n, batch.count}).operation(op);
  check.that(incx != 0 && incy != 0, "an increment is 0");
  if (check.failed()) return check.status();
  MatrixVector g;
  g.op = static_cast<Op>(op);
  const bool flips = g.op != Op::kNone;
  g.a = {"A", a, m, n, lda, type};
  g.x = {"x", x, flips ? m : n, incx, type};
  g.y = {"y", y, flips ? n : m, incy, type};
  check.leading(g.a).that(alpha != nullptr && beta != nullptr, "alpha or beta is a null pointer");
  if (check.failed() || m == 0 || n == 0 || batch.count == 0) return check.status();
  g.alpha = scalar(*handle, "alpha", alpha, type);
  g.beta = scalar(*handle, "beta", beta, type);
  return put(call, handle->stream, {a, x, y}, [=](Access& access) { run(access, g, batch); });
}

// A += alpha x y^T, or alpha x y^H.
cublasStatus_t ger(const char* call, cublasHandle_t handle, Type type, bool conjugates,
                   std::int64_t m, std::int64_t n, const void* alpha, const void* x_at,
                   std::int64_t incx, const void* y_at, std::int64_t incy, const void* a_at,
                   std::int64_t lda) {
  const Vector x{"x", x_at, m, incx, type}, y{"y", y_at, n, incy, type};
  const Matrix a{"A", a_at, m, n, lda, type};
  Check check(call, handle);
  check.sizes({m, n}).that(incx != 0 && incy != 0, "an increment is 0").leading(a);
  check.that(alpha != nullptr, "alpha is a null pointer");
  if (check.failed() || m == 0 || n == 0) return check.status();
  const Scalar factor = scalar(*handle, "alpha", alpha, type);
  return put(call, handle->stream, {x_at, y_at, a_at}, [=](Access& access) {
    with_floating(type, [&](auto zero) {
      using T = decltype(zero);
      const T by = access.value<T>(factor);
      const auto of_x = gather<T>(x, access.read_alone(x)),
                 of_y = gather<T>(y, access.read_alone(y));
      access.read(a);
      std::byte* const at = access.write(a);
      for (std::int64_t j = 0; j < n; ++j) {
        const T other = of_y[static_cast<std::size_t>(j)];
        const T scaled = by * (conjugates ? conjugate(other) : other);
        for (std::int64_t i = 0; i < m; ++i) {
          std::byte* const to = at + offset(a, i, j);
          store<T>(type, to,
                   multiply_add(of_x[static_cast<std::size_t>(i)], scaled, load<T>(type, to)));
        }
      }
    });
  });
}

// op(A) x = b, in place.
cublasStatus_t trsv(const char* call, cublasHandle_t handle, Type type, int fill, int op, int diag,
                    std::int64_t n, const void* a_at, std::int64_t lda, const void* x_at,
                    std::int64_t incx) {
  Matrix a{"A", a_at, n, n, lda, type};
  const Vector x{"x", x_at, n, incx, type};
  Check check(call, handle);
  check.sizes({n}).operation(op).leading(a).that(incx != 0, "an increment is 0");
  check.that(fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER,
             "the fill mode is neither lower nor upper");
  if (check.failed() || n == 0) return check.status();
  a.part = fill == CUBLAS_FILL_MODE_LOWER ? Matrix::Part::kLower : Matrix::Part::kUpper;
  a.has_diagonal = diag != CUBLAS_DIAG_UNIT;
  return put(call, handle->stream, {a_at, x_at}, [=](Access& access) {
    with_floating(type, [&](auto zero) {
      using T = decltype(zero);
      const Triangle<T> triangle(a, access.read_alone(a), static_cast<Op>(op));
      auto values = gather<T>(x, access.read(x));
      triangle.solve(values);
      scatter(x, access.write(x), values);
    });
  });
}

}  // namespace
}  // namespace lockstep::cublas

using namespace lockstep::cublas;

#define GEMV(letter, type, suffix, Size)                                                          \
  cublasStatus_t cublas##letter##gemv_v2##suffix(                                                 \
      cublasHandle_t handle, cublasOperation_t op, Size m, Size n, const void* alpha,             \
      const void* a, Size lda, const void* x, Size incx, const void* beta, void* y, Size incy) {  \
    return gemv("cublas" #letter "gemv", handle, type, op, m, n, alpha, a, lda, x, incx, beta, y, \
                incy);                                                                            \
  }                                                                                               \
  cublasStatus_t cublas##letter##gemvBatched##suffix(                                             \
      cublasHandle_t handle, cublasOperation_t op, Size m, Size n, const void* alpha,             \
      const void* const* a, Size lda, const void* const* x, Size incx, const void* beta,          \
      void* const* y, Size incy, Size batch) {                                                    \
    return gemv("cublas" #letter "gemvBatched", handle, type, op, m, n, alpha, a, lda, x, incx,   \
                beta, y, incy, {batch, 0, 0, 0, true});                                           \
  }                                                                                               \
  cublasStatus_t cublas##letter##gemvStridedBatched##suffix(                                      \
      cublasHandle_t handle, cublasOperation_t op, Size m, Size n, const void* alpha,             \
      const void* a, Size lda, long long stride_a, const void* x, Size incx, long long stride_x,  \
      const void* beta, void* y, Size incy, long long stride_y, Size batch) {                     \
    return gemv("cublas" #letter "gemvStridedBatched", handle, type, op, m, n, alpha, a, lda, x,  \
                incx, beta, y, incy, {batch, stride_a, stride_x, stride_y});                      \
  }                                                                                               \
  cublasStatus_t cublas##letter##trsv_v2##suffix(                                                 \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag,  \
      Size n, const void* a, Size lda, void* x, Size incx) {                                      \
    return trsv("cublas" #letter "trsv", handle, type, fill, op, diag, n, a, lda, x, incx);       \
  }
#define GER(name, type, suffix, Size, conjugates)                                                \
  cublasStatus_t cublas##name##_v2##suffix(cublasHandle_t handle, Size m, Size n,                \
                                           const void* alpha, const void* x, Size incx,          \
                                           const void* y, Size incy, void* a, Size lda) {        \
    return ger("cublas" #name, handle, type, conjugates, m, n, alpha, x, incx, y, incy, a, lda); \
  }
#define EVERY_MATRIX_VECTOR(suffix, Size)     \
  GEMV(S, Type::kF32, suffix, Size)           \
  GEMV(D, Type::kF64, suffix, Size)           \
  GEMV(C, Type::kC32, suffix, Size)           \
  GEMV(Z, Type::kC64, suffix, Size)           \
  GER(Sger, Type::kF32, suffix, Size, false)  \
  GER(Dger, Type::kF64, suffix, Size, false)  \
  GER(Cgeru, Type::kC32, suffix, Size, false) \
  GER(Zgeru, Type::kC64, suffix, Size, false) \
  GER(Cgerc, Type::kC32, suffix, Size, true)  \
  GER(Zgerc, Type::kC64, suffix, Size, true)

extern "C" {
EVERY_MATRIX_VECTOR(, int)
EVERY_MATRIX_VECTOR(_64, int64_t)
}  // extern "C"
