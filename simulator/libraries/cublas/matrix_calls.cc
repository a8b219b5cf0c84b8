// Level 3 except gemm: trsm, trmm, symm, hemm, syrk, herk, geam, dgmm (cuBLAS, "cuBLAS Level-3
// Function Reference" and "BLAS-like Extension").
#include <cstdint>
#include <string>

#include "simulator/libraries/cublas/handle.h"
#include "simulator/libraries/cublas/product.h"
#include "simulator/libraries/cublas/triangle.h"

namespace lockstep::cublas {
namespace {

constexpr const char* kNoFill = "the fill mode is neither lower nor upper";
constexpr const char* kNoSide = "the side is neither left nor right";

bool is_fill(int fill) { return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER; }
bool is_side(int side) { return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT; }
Matrix::Part part_of(int fill) {
  return fill == CUBLAS_FILL_MODE_LOWER ? Matrix::Part::kLower : Matrix::Part::kUpper;
}

template <class T>
Operand operand(const std::vector<T>& dense, Type type, std::int64_t rows) {
  return {reinterpret_cast<const std::byte*>(dense.data()), type, rows, Op::kNone};
}

// The columns of a matrix, copied without gaps.
template <class T>
std::vector<T> dense(const Matrix& a, const std::byte* at) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(a.rows * a.columns));
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      values.push_back(load<T>(a.type, at + offset(a, i, j)));
  }
  return values;
}

template <class T>
void write(const Matrix& a, std::byte* at, const std::vector<T>& values) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      store<T>(a.type, at + offset(a, i, j), values[static_cast<std::size_t>(i + j * a.rows)]);
  }
}

// ---- triangles ----------------------------------------------------------------------------------

struct Triangular {
  bool is_left = true, solves = true;
  Op op = Op::kNone;
  Matrix a, b, c;  // trsm overwrites B, trmm writes C
  Scalar alpha;
};

// B := alpha op(A)^-1 B, or alpha B op(A)^-1.
template <class T>
void solve(Access& access, const Triangular& g, T alpha) {
  const std::byte* const a = alpha == T{} ? nullptr : access.read_alone(g.a);
  if (alpha != T{}) access.read(g.b);
  std::byte* const b = access.write(g.b);
  const std::int64_t count = g.is_left ? g.b.columns : g.b.rows,
                     n = g.is_left ? g.b.rows : g.b.columns;
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::int64_t one = 0; one < count; ++one) {
    const auto place = [&](std::size_t i) {
      const auto at = static_cast<std::int64_t>(i);
      return b + (g.is_left ? offset(g.b, at, one) : offset(g.b, one, at));
    };
    if (alpha == T{}) {
      std::fill(x.begin(), x.end(), T{});
    } else {
      const Triangle<T> triangle(g.a, a, g.op);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = alpha * load<T>(g.b.type, place(i));
      g.is_left ? triangle.solve(x) : triangle.solve_transposed(x);
    }
    for (std::size_t i = 0; i < x.size(); ++i) store<T>(g.b.type, place(i), x[i]);
  }
}

// C := alpha op(A) B, or alpha B op(A).
template <class T>
void multiply(Access& access, const Triangular& g, T alpha) {
  std::vector<T> values(static_cast<std::size_t>(g.c.rows * g.c.columns));
  if (alpha != T{}) {
    const Triangle<T> triangle(g.a, access.read_alone(g.a), g.op);
    std::vector<T> full(static_cast<std::size_t>(g.a.rows * g.a.rows));
    for (std::int64_t j = 0; j < g.a.rows; ++j) {
      for (std::int64_t i = 0; i < g.a.rows; ++i) {
        if (i == j || (i > j) == triangle.is_lower())
          full[static_cast<std::size_t>(i + j * g.a.rows)] = triangle(i, j);
      }
    }
    const auto b = dense<T>(g.b, access.read(g.b));
    const Operand of_a = operand(full, g.a.type, g.a.rows), of_b = operand(b, g.b.type, g.b.rows);
    values = product<T>({g.c.rows, g.c.columns, g.a.rows}, g.is_left ? of_a : of_b,
                        g.is_left ? of_b : of_a);
    for (T& value : values) value *= alpha;
  }
  write(g.c, access.write(g.c), values);
}

void run(Access& access, const Triangular& g, std::int64_t batch) {
  with_floating(g.a.type, [&](auto zero) {
    using T = decltype(zero);
    const T alpha = access.value<T>(g.alpha);
    if (batch < 0) {
      g.solves ? solve<T>(access, g, alpha) : multiply<T>(access, g, alpha);
      return;
    }
    const auto as = access.read_pointers("Aarray", g.a.at, batch),
               bs = access.read_pointers("Barray", g.b.at, batch);
    for (std::size_t i = 0; i < as.size(); ++i) {
      Triangular one = g;
      const std::string number = "array[" + std::to_string(i) + "]", a = "A" + number,
                        b = "B" + number;
      one.a.at = as[i];
      one.a.name = a.c_str();
      one.b.at = bs[i];
      one.b.name = b.c_str();
      solve<T>(access, one, alpha);
    }
  });
}

struct Sides {
  int side, fill, op, diag;
};

// `batch` < 0 means one matrix. `c` null means trsm.
cublasStatus_t triangular(const char* call, cublasHandle_t handle, Type type, const Sides& sides,
                          std::int64_t m, std::int64_t n, const void* alpha, const void* a,
                          std::int64_t lda, const void* b, std::int64_t ldb, const void* c,
                          std::int64_t ldc, std::int64_t batch = -1) {
  Check check(call, handle);
  check.sizes({m, n, batch < 0 ? 0 : batch}).operation(sides.op);
  check.that(is_side(sides.side), kNoSide).that(is_fill(sides.fill), kNoFill);
  check.that(alpha != nullptr, "alpha is a null pointer");
  if (check.failed()) return check.status();
  Triangular g;
  g.is_left = sides.side == CUBLAS_SIDE_LEFT;
  g.solves = c == nullptr;
  g.op = static_cast<Op>(sides.op);
  const std::int64_t order = g.is_left ? m : n;
  g.a = {"A", a, order, order, lda, type};
  g.a.part = part_of(sides.fill);
  g.a.has_diagonal = sides.diag != CUBLAS_DIAG_UNIT;
  g.b = {"B", b, m, n, ldb, type};
  g.c = {"C", c, m, n, ldc, type};
  check.leading(g.a).leading(g.b);
  if (!g.solves) check.leading(g.c);
  if (check.failed() || m == 0 || n == 0 || batch == 0) return check.status();
  g.alpha = scalar(*handle, "alpha", alpha, type);
  return put(call, handle->stream, {a, b, c}, [=](Access& access) { run(access, g, batch); });
}

// ---- symmetric matrices -------------------------------------------------------------------------

// C = alpha A B + beta C, or alpha B A + beta C, with A symmetric or Hermitian.
cublasStatus_t symm(const char* call, cublasHandle_t handle, Type type, bool hermitian, int side,
                    int fill, std::int64_t m, std::int64_t n, const void* alpha_at,
                    const void* a_at, std::int64_t lda, const void* b_at, std::int64_t ldb,
                    const void* beta_at, const void* c_at, std::int64_t ldc) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const std::int64_t order = is_left ? m : n;
  Matrix a{"A", a_at, order, order, lda, type};
  const Matrix b{"B", b_at, m, n, ldb, type}, c{"C", c_at, m, n, ldc, type};
  Check check(call, handle);
  check.sizes({m, n}).that(is_side(side), kNoSide).that(is_fill(fill), kNoFill);
  check.leading(a).leading(b).leading(c);
  check.that(alpha_at != nullptr && beta_at != nullptr, "alpha or beta is a null pointer");
  if (check.failed() || m == 0 || n == 0) return check.status();
  a.part = part_of(fill);
  const Scalar by = scalar(*handle, "alpha", alpha_at, type),
               keeps = scalar(*handle, "beta", beta_at, type);
  return put(call, handle->stream, {a_at, b_at, c_at}, [=](Access& access) {
    with_floating(type, [&](auto zero) {
      using T = decltype(zero);
      const T alpha = access.value<T>(by), beta = access.value<T>(keeps);
      std::vector<T> values(static_cast<std::size_t>(m * n));
      if (alpha != T{}) {
        const std::byte* const at = access.read_alone(a);
        std::vector<T> full(static_cast<std::size_t>(order * order));
        for (std::int64_t j = 0; j < order; ++j) {
          for (std::int64_t i = 0; i < order; ++i) {
            const bool there = i == j || (i > j) == (fill == CUBLAS_FILL_MODE_LOWER);
            T value = load<T>(type, at + (there ? offset(a, i, j) : offset(a, j, i)));
            if (hermitian && !there) value = conjugate(value);
            if (hermitian && i == j) value = (value + conjugate(value)) / T{2};
            full[static_cast<std::size_t>(i + j * order)] = value;
          }
        }
        const Operand of_a = operand(full, type, order),
                      of_b{access.read_alone(b), type, ldb, Op::kNone};
        values = product<T>({m, n, order}, is_left ? of_a : of_b, is_left ? of_b : of_a);
        for (T& value : values) value *= alpha;
      }
      if (beta != T{}) {
        const auto old = dense<T>(c, access.read(c));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += beta * old[i];
      }
      write(c, access.write(c), values);
    });
  });
}

// C = alpha A A^T + beta C, or alpha A^T A + beta C, where C is a triangle. herk uses A^H and real
// factors.
cublasStatus_t syrk(const char* call, cublasHandle_t handle, Type type, bool hermitian, int fill,
                    int op, std::int64_t n, std::int64_t k, const void* alpha_at, const void* a_at,
                    std::int64_t lda, const void* beta_at, const void* c_at, std::int64_t ldc) {
  const bool flips = op != CUBLAS_OP_N;
  const Matrix a{"A", a_at, flips ? k : n, flips ? n : k, lda, type};
  Matrix c{"C", c_at, n, n, ldc, type};
  Check check(call, handle);
  check.sizes({n, k}).operation(op).that(is_fill(fill), kNoFill).leading(a).leading(c);
  check.that(alpha_at != nullptr && beta_at != nullptr, "alpha or beta is a null pointer");
  const bool is_complex = type == Type::kC32 || type == Type::kC64;
  if (is_complex)
    check.that(op != (hermitian ? CUBLAS_OP_T : CUBLAS_OP_C),
               hermitian ? "the operation is neither N nor C" : "the operation is neither N nor T");
  if (check.failed() || n == 0) return check.status();
  c.part = part_of(fill);
  const Type factors = !hermitian ? type : type == Type::kC32 ? Type::kF32 : Type::kF64;
  const Scalar by = scalar(*handle, "alpha", alpha_at, factors),
               keeps = scalar(*handle, "beta", beta_at, factors);
  return put(call, handle->stream, {a_at, c_at}, [=](Access& access) {
    with_floating(type, [&](auto zero) {
      using T = decltype(zero);
      T alpha{}, beta{};
      with_floating(factors, [&](auto other) {
        using R = decltype(other);
        if constexpr (std::is_convertible_v<R, T>) {
          alpha = access.value<R>(by);
          beta = access.value<R>(keeps);
        }
      });
      std::vector<T> values(static_cast<std::size_t>(n * n));
      if (alpha != T{} && k > 0) {
        const std::byte* const at = access.read_alone(a);
        const Op turned = hermitian ? Op::kConjugateTranspose : Op::kTranspose;
        values = product<T>({n, n, k}, {at, type, lda, flips ? turned : Op::kNone},
                            {at, type, lda, flips ? Op::kNone : turned});
      }
      const std::byte* const old = beta != T{} ? access.read(c) : nullptr;
      std::byte* const to = access.write(c);
      for (std::int64_t j = 0; j < n; ++j) {
        const bool is_lower = fill == CUBLAS_FILL_MODE_LOWER;
        for (std::int64_t i = is_lower ? j : 0; i < (is_lower ? n : j + 1); ++i) {
          T value = alpha * values[static_cast<std::size_t>(i + j * n)];
          if (old != nullptr) value += beta * load<T>(type, old + offset(c, i, j));
          if (hermitian && i == j) value = (value + conjugate(value)) / T{2};
          store<T>(type, to + offset(c, i, j), value);
        }
      }
    });
  });
}

// ---- elements -----------------------------------------------------------------------------------

// C = alpha op(A) + beta op(B).
cublasStatus_t geam(const char* call, cublasHandle_t handle, Type type, int op_a, int op_b,
                    std::int64_t m, std::int64_t n, const void* alpha_at, const void* a_at,
                    std::int64_t lda, const void* beta_at, const void* b_at, std::int64_t ldb,
                    const void* c_at, std::int64_t ldc) {
  const bool turns_a = op_a != CUBLAS_OP_N, turns_b = op_b != CUBLAS_OP_N;
  const Matrix a{"A", a_at, turns_a ? n : m, turns_a ? m : n, lda, type},
      b{"B", b_at, turns_b ? n : m, turns_b ? m : n, ldb, type}, c{"C", c_at, m, n, ldc, type};
  Check check(call, handle);
  check.sizes({m, n}).operation(op_a).operation(op_b).leading(c);
  check.that(alpha_at != nullptr && beta_at != nullptr, "alpha or beta is a null pointer");
  // A matrix with factor 0 may be null (cuBLAS, "cublas<t>geam()").
  if (a_at != nullptr) check.leading(a);
  if (b_at != nullptr) check.leading(b);
  check.that(c_at != a_at || (!turns_a && lda == ldc),
             "C is A: without an operation and with lda = ldc");
  check.that(c_at != b_at || (!turns_b && ldb == ldc),
             "C is B: without an operation and with ldb = ldc");
  if (check.failed() || m == 0 || n == 0) return check.status();
  const Scalar of_a = scalar(*handle, "alpha", alpha_at, type),
               of_b = scalar(*handle, "beta", beta_at, type);
  return put(call, handle->stream, {a_at, b_at, c_at}, [=](Access& access) {
    with_floating(type, [&](auto zero) {
      using T = decltype(zero);
      const T alpha = access.value<T>(of_a), beta = access.value<T>(of_b);
      const std::byte* const from_a = alpha != T{} ? access.read(a) : nullptr;
      const std::byte* const from_b = beta != T{} ? access.read(b) : nullptr;
      std::byte* const to = access.write(c);
      const auto term = [&](const Matrix& x, const std::byte* at, int op, T factor, std::int64_t i,
                            std::int64_t j) {
        if (at == nullptr) return T{};
        const T value = load<T>(type, at + (op == CUBLAS_OP_N ? offset(x, i, j) : offset(x, j, i)));
        return factor * (op == CUBLAS_OP_C ? conjugate(value) : value);
      };
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i)
          store<T>(type, to + offset(c, i, j),
                   term(a, from_a, op_a, alpha, i, j) + term(b, from_b, op_b, beta, i, j));
      }
    });
  });
}

// C = A diag(x), or diag(x) A.
cublasStatus_t dgmm(const char* call, cublasHandle_t handle, Type type, int side, std::int64_t m,
                    std::int64_t n, const void* a_at, std::int64_t lda, const void* x_at,
                    std::int64_t incx, const void* c_at, std::int64_t ldc) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const Matrix a{"A", a_at, m, n, lda, type}, c{"C", c_at, m, n, ldc, type};
  const Vector x{"x", x_at, is_left ? m : n, incx, type};
  Check check(call, handle);
  check.sizes({m, n}).that(is_side(side), kNoSide).leading(a).leading(c);
  if (check.failed() || m == 0 || n == 0) return check.status();
  return put(call, handle->stream, {a_at, x_at, c_at}, [=](Access& access) {
    with_floating(type, [&](auto zero) {
      using T = decltype(zero);
      const std::byte* const from = access.read(a);
      const std::byte* const of_x = access.read(x);
      // With an increment of 0 all elements are the first.
      const auto diagonal = gather<T>(x, of_x);
      std::byte* const to = access.write(c);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i)
          store<T>(type, to + offset(c, i, j),
                   load<T>(type, from + offset(a, i, j)) *
                       diagonal[static_cast<std::size_t>(is_left ? i : j)]);
      }
    });
  });
}

}  // namespace
}  // namespace lockstep::cublas

using namespace lockstep::cublas;

#define MATRICES(letter, type, suffix, Size)                                                      \
  cublasStatus_t cublas##letter##trsm_v2##suffix(                                                 \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,  \
      cublasDiagType_t diag, Size m, Size n, const void* alpha, const void* a, Size lda, void* b, \
      Size ldb) {                                                                                 \
    return triangular("cublas" #letter "trsm", handle, type, {side, fill, op, diag}, m, n, alpha, \
                      a, lda, b, ldb, nullptr, 0);                                                \
  }                                                                                               \
  cublasStatus_t cublas##letter##trsmBatched##suffix(                                             \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,  \
      cublasDiagType_t diag, Size m, Size n, const void* alpha, const void* const* a, Size lda,   \
      void* const* b, Size ldb, Size batch) {                                                     \
    return triangular("cublas" #letter "trsmBatched", handle, type, {side, fill, op, diag}, m, n, \
                      alpha, a, lda, b, ldb, nullptr, 0, batch);                                  \
  }                                                                                               \
  cublasStatus_t cublas##letter##trmm_v2##suffix(                                                 \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,  \
      cublasDiagType_t diag, Size m, Size n, const void* alpha, const void* a, Size lda,          \
      const void* b, Size ldb, void* c, Size ldc) {                                               \
    return triangular("cublas" #letter "trmm", handle, type, {side, fill, op, diag}, m, n, alpha, \
                      a, lda, b, ldb, c, ldc);                                                    \
  }                                                                                               \
  cublasStatus_t cublas##letter##geam##suffix(                                                    \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Size m, Size n,      \
      const void* alpha, const void* a, Size lda, const void* beta, const void* b, Size ldb,      \
      void* c, Size ldc) {                                                                        \
    return geam("cublas" #letter "geam", handle, type, op_a, op_b, m, n, alpha, a, lda, beta, b,  \
                ldb, c, ldc);                                                                     \
  }                                                                                               \
  cublasStatus_t cublas##letter##dgmm##suffix(cublasHandle_t handle, cublasSideMode_t side,       \
                                              Size m, Size n, const void* a, Size lda,            \
                                              const void* x, Size incx, void* c, Size ldc) {      \
    return dgmm("cublas" #letter "dgmm", handle, type, side, m, n, a, lda, x, incx, c, ldc);      \
  }                                                                                               \
  SYMMETRIC(letter##symm, letter##syrk, type, suffix, Size, false)
#define SYMMETRIC(symm_name, syrk_name, type, suffix, Size, hermitian)                             \
  cublasStatus_t cublas##symm_name##_v2##suffix(                                                   \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, Size m, Size n,         \
      const void* alpha, const void* a, Size lda, const void* b, Size ldb, const void* beta,       \
      void* c, Size ldc) {                                                                         \
    return symm("cublas" #symm_name, handle, type, hermitian, side, fill, m, n, alpha, a, lda, b,  \
                ldb, beta, c, ldc);                                                                \
  }                                                                                                \
  cublasStatus_t cublas##syrk_name##_v2##suffix(                                                   \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, Size n, Size k,          \
      const void* alpha, const void* a, Size lda, const void* beta, void* c, Size ldc) {           \
    return syrk("cublas" #syrk_name, handle, type, hermitian, fill, op, n, k, alpha, a, lda, beta, \
                c, ldc);                                                                           \
  }
#define EVERY_MATRIX(suffix, Size)                        \
  MATRICES(S, Type::kF32, suffix, Size)                   \
  MATRICES(D, Type::kF64, suffix, Size)                   \
  MATRICES(C, Type::kC32, suffix, Size)                   \
  MATRICES(Z, Type::kC64, suffix, Size)                   \
  SYMMETRIC(Chemm, Cherk, Type::kC32, suffix, Size, true) \
  SYMMETRIC(Zhemm, Zherk, Type::kC64, suffix, Size, true)

extern "C" {
EVERY_MATRIX(, int)
EVERY_MATRIX(_64, int64_t)
}  // extern "C"
