// Level 1: vectors (cuBLAS, "cuBLAS Level-1 Function Reference"). Sums are chains of fused
// multiply-adds in the order of the elements. nrm2 sums the squares in the next wider type.
#include <cmath>
#include <cstdint>
#include <utility>

#include "simulator/libraries/cublas/handle.h"

namespace lockstep::cublas {
namespace {

// |re| + |im|, the magnitude for asum and amax.
template <class T>
auto magnitude(T value) {
  if constexpr (requires { value.imag(); }) {
    return std::abs(value.real()) + std::abs(value.imag());
  } else {
    return std::abs(value);
  }
}

Type real_of(Type type) {
  return type == Type::kC32 ? Type::kF32 : type == Type::kC64 ? Type::kF64 : type;
}

cublasStatus_t axpy(const char* call, cublasHandle_t handle, Vector x, Vector y, const void* alpha,
                    Type alpha_type) {
  Check check(call, handle);
  check.that(alpha != nullptr, "alpha is a null pointer");
  if (check.failed() || x.n <= 0) return check.status();
  const Scalar factor = scalar(*handle, "alpha", alpha, alpha_type);
  return put(call, handle->stream, {x.at, y.at}, [=](Access& access) {
    with_floating(x.type, [&](auto zero) {
      using T = decltype(zero);
      const T a = access.value<T>(factor);
      const auto from = gather<T>(x, access.read(x));
      auto values = gather<T>(y, access.read(y));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = multiply_add(a, from[i], values[i]);
      scatter(y, access.write(y), values);
    });
  });
}

cublasStatus_t scal(const char* call, cublasHandle_t handle, Vector x, const void* alpha,
                    Type alpha_type) {
  Check check(call, handle);
  check.that(alpha != nullptr, "alpha is a null pointer");
  if (check.failed() || x.n <= 0 || x.inc <= 0) return check.status();
  const Scalar factor = scalar(*handle, "alpha", alpha, alpha_type);
  return put(call, handle->stream, {x.at}, [=](Access& access) {
    with_floating(x.type, [&](auto zero) {
      using T = decltype(zero);
      with_floating(alpha_type, [&](auto other) {
        using A = decltype(other);
        if constexpr (requires(T t, A a) { t *= a; }) {
          const A a = access.value<A>(factor);
          auto values = gather<T>(x, access.read(x));
          for (T& value : values) value *= a;
          scatter(x, access.write(x), values);
        }
      });
    });
  });
}

cublasStatus_t copy(const char* call, cublasHandle_t handle, Vector x, Vector y, bool swaps) {
  Check check(call, handle);
  if (check.failed() || x.n <= 0) return check.status();
  return put(call, handle->stream, {x.at, y.at}, [=](Access& access) {
    with_floating(x.type, [&](auto zero) {
      using T = decltype(zero);
      const auto of_x = gather<T>(x, access.read(x));
      if (swaps) {
        const auto of_y = gather<T>(y, access.read(y));
        scatter(x, access.write(x), of_y);
      }
      scatter(y, access.write(y), of_x);
    });
  });
}

// Computes a result from the elements of one or two vectors. `compute` takes (Access&) and returns
// the result. The result is zero if there are no elements.
template <class Compute>
cublasStatus_t reduce(const char* call, cublasHandle_t handle, std::int64_t n,
                      std::initializer_list<const void*> pointers, void* to, Type type,
                      Compute compute) {
  Check check(call, handle);
  check.that(to != nullptr, "the result is a null pointer");
  if (check.failed()) return check.status();
  const Result place = result(*handle, to, type);
  return put(
      call, handle->stream, pointers,
      [=](Access& access) {
        with_floating(type, [&](auto zero) {
          using T = decltype(zero);
          access.give<T>(place, n > 0 ? compute.template operator()<T>(access) : T{});
        });
      },
      !place.on_device);
}

cublasStatus_t dot(const char* call, cublasHandle_t handle, Vector x, Vector y, bool conjugates,
                   void* to, Type type) {
  return reduce(call, handle, x.n, {x.at, y.at}, to, type, [=]<class T>(Access& access) {
    const auto a = gather<T>(x, access.read(x)), b = gather<T>(y, access.read(y));
    T sum{};
    for (std::size_t i = 0; i < a.size(); ++i)
      sum = multiply_add(conjugates ? conjugate(a[i]) : a[i], b[i], sum);
    return sum;
  });
}

// The same for one vector: `make` computes the result from its elements, which have type T.
template <class Make>
cublasStatus_t reduce_one(const char* call, cublasHandle_t handle, Vector x, void* to, Type type,
                          Make make) {
  return reduce(call, handle, x.inc > 0 ? x.n : 0, {x.at}, to, type, [=]<class R>(Access& access) {
    R made{};
    with_floating(x.type, [&](auto zero) {
      const auto values = gather<decltype(zero)>(x, access.read(x));
      made = static_cast<R>(make(values));
    });
    return made;
  });
}

template <class T>
long double square(T value) {
  if constexpr (requires { value.imag(); }) {
    return square(value.real()) + square(value.imag());
  } else {
    return static_cast<long double>(value) * static_cast<long double>(value);
  }
}

struct Norm {
  template <class T>
  long double operator()(const std::vector<T>& values) const {
    long double sum = 0;
    for (const T& value : values) sum += square(value);
    return std::sqrt(sum);
  }
};
struct Sum {
  template <class T>
  auto operator()(const std::vector<T>& values) const {
    auto sum = magnitude(T{});
    for (const T& value : values) sum += magnitude(value);
    return sum;
  }
};
// The index of the first largest, or smallest, element, counted from 1.
struct Extreme {
  bool largest;
  template <class T>
  std::int64_t operator()(const std::vector<T>& values) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (largest ? magnitude(values[i]) > magnitude(values[best])
                  : magnitude(values[i]) < magnitude(values[best]))
        best = i;
    }
    return static_cast<std::int64_t>(best) + 1;
  }
};

// Index is int or std::int64_t.
template <class Index>
cublasStatus_t extreme(const char* call, cublasHandle_t handle, Vector x, Index* to, bool largest) {
  Check check(call, handle);
  check.that(to != nullptr, "the result is a null pointer");
  if (check.failed()) return check.status();
  const bool on_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  return put(
      call, handle->stream, {x.at},
      [=](Access& access) {
        std::int64_t found = 0;
        if (x.n > 0 && x.inc > 0) {
          with_floating(x.type, [&](auto zero) {
            found = Extreme{largest}(gather<decltype(zero)>(x, access.read(x)));
          });
        }
        // A 64-bit index is opened as an element of the same size.
        const Vector place{"result", to, 1, 1, sizeof(Index) == 4 ? Type::kI32 : Type::kF64};
        *(on_device ? reinterpret_cast<Index*>(access.write(place)) : to) =
            static_cast<Index>(found);
      },
      !on_device);
}

// Whether an Ex function supports the types: vectors of one type, computed in that type or in
// float.
bool fits(cudaDataType x, cudaDataType y, cudaDataType executed) {
  const Type type = as_type(x);
  if (x != y) return false;
  return type == Type::kF16 || type == Type::kBF16 ? executed == CUDA_R_32F
                                                   : (type == Type::kF32 || type == Type::kF64 ||
                                                      type == Type::kC32 || type == Type::kC64) &&
                                                         executed == x;
}

constexpr const char* kRefusedTypes = "the simulated cuBLAS has no such types";

}  // namespace
}  // namespace lockstep::cublas

using namespace lockstep::cublas;

#define X \
  { "x", x, n, incx, type }
#define Y \
  { "y", y, n, incy, type }

#define VECTORS(letter, type_of, suffix, Size)                                                     \
  cublasStatus_t cublas##letter##axpy_v2##suffix(cublasHandle_t handle, Size n, const void* alpha, \
                                                 const void* x, Size incx, void* y, Size incy) {   \
    constexpr Type type = type_of;                                                                 \
    return axpy("cublas" #letter "axpy", handle, X, Y, alpha, type);                               \
  }                                                                                                \
  cublasStatus_t cublas##letter##scal_v2##suffix(cublasHandle_t handle, Size n, const void* alpha, \
                                                 void* x, Size incx) {                             \
    constexpr Type type = type_of;                                                                 \
    return scal("cublas" #letter "scal", handle, X, alpha, type);                                  \
  }                                                                                                \
  cublasStatus_t cublas##letter##copy_v2##suffix(cublasHandle_t handle, Size n, const void* x,     \
                                                 Size incx, void* y, Size incy) {                  \
    constexpr Type type = type_of;                                                                 \
    return copy("cublas" #letter "copy", handle, X, Y, false);                                     \
  }                                                                                                \
  cublasStatus_t cublas##letter##swap_v2##suffix(cublasHandle_t handle, Size n, void* x,           \
                                                 Size incx, void* y, Size incy) {                  \
    constexpr Type type = type_of;                                                                 \
    return copy("cublas" #letter "swap", handle, X, Y, true);                                      \
  }

#define REDUCTION(name, type_of, suffix, Size, make)                                     \
  cublasStatus_t cublas##name##_v2##suffix(cublasHandle_t handle, Size n, const void* x, \
                                           Size incx, void* to) {                        \
    constexpr Type type = type_of;                                                       \
    return reduce_one("cublas" #name, handle, X, to, real_of(type), make);               \
  }
#define EXTREME(name, type_of, suffix, Size, largest)                                    \
  cublasStatus_t cublas##name##_v2##suffix(cublasHandle_t handle, Size n, const void* x, \
                                           Size incx, Size* to) {                        \
    constexpr Type type = type_of;                                                       \
    return extreme("cublas" #name, handle, X, to, largest);                              \
  }
#define DOT(name, type_of, suffix, Size, conjugates)                                        \
  cublasStatus_t cublas##name##_v2##suffix(cublasHandle_t handle, Size n, const void* x,    \
                                           Size incx, const void* y, Size incy, void* to) { \
    constexpr Type type = type_of;                                                          \
    return dot("cublas" #name, handle, X, Y, conjugates, to, type);                         \
  }
#define SCALED_BY_REAL(name, type_of, suffix, Size)                                          \
  cublasStatus_t cublas##name##_v2##suffix(cublasHandle_t handle, Size n, const void* alpha, \
                                           void* x, Size incx) {                             \
    constexpr Type type = type_of;                                                           \
    return scal("cublas" #name, handle, X, alpha, real_of(type));                            \
  }

#define EVERY_VECTOR(suffix, Size)                                                                 \
  VECTORS(S, Type::kF32, suffix, Size)                                                             \
  VECTORS(D, Type::kF64, suffix, Size)                                                             \
  VECTORS(C, Type::kC32, suffix, Size)                                                             \
  VECTORS(Z, Type::kC64, suffix, Size)                                                             \
  SCALED_BY_REAL(Csscal, Type::kC32, suffix, Size)                                                 \
  SCALED_BY_REAL(Zdscal, Type::kC64, suffix, Size)                                                 \
  REDUCTION(Snrm2, Type::kF32, suffix, Size, Norm{})                                               \
  REDUCTION(Dnrm2, Type::kF64, suffix, Size, Norm{})                                               \
  REDUCTION(Scnrm2, Type::kC32, suffix, Size, Norm{})                                              \
  REDUCTION(Dznrm2, Type::kC64, suffix, Size, Norm{})                                              \
  REDUCTION(Sasum, Type::kF32, suffix, Size, Sum{})                                                \
  REDUCTION(Dasum, Type::kF64, suffix, Size, Sum{})                                                \
  REDUCTION(Scasum, Type::kC32, suffix, Size, Sum{})                                               \
  REDUCTION(Dzasum, Type::kC64, suffix, Size, Sum{})                                               \
  EXTREME(Isamax, Type::kF32, suffix, Size, true)                                                  \
  EXTREME(Idamax, Type::kF64, suffix, Size, true)                                                  \
  EXTREME(Icamax, Type::kC32, suffix, Size, true)                                                  \
  EXTREME(Izamax, Type::kC64, suffix, Size, true)                                                  \
  EXTREME(Isamin, Type::kF32, suffix, Size, false)                                                 \
  EXTREME(Idamin, Type::kF64, suffix, Size, false)                                                 \
  EXTREME(Icamin, Type::kC32, suffix, Size, false)                                                 \
  EXTREME(Izamin, Type::kC64, suffix, Size, false)                                                 \
  DOT(Sdot, Type::kF32, suffix, Size, false)                                                       \
  DOT(Ddot, Type::kF64, suffix, Size, false)                                                       \
  DOT(Cdotu, Type::kC32, suffix, Size, false)                                                      \
  DOT(Zdotu, Type::kC64, suffix, Size, false)                                                      \
  DOT(Cdotc, Type::kC32, suffix, Size, true)                                                       \
  DOT(Zdotc, Type::kC64, suffix, Size, true)                                                       \
  cublasStatus_t cublasAxpyEx##suffix(cublasHandle_t handle, Size n, const void* alpha,            \
                                      cudaDataType alpha_type, const void* x, cudaDataType x_type, \
                                      Size incx, void* y, cudaDataType y_type, Size incy,          \
                                      cudaDataType executed) {                                     \
    Check check("cublasAxpyEx", handle);                                                           \
    check.simulated(fits(x_type, y_type, executed) && alpha_type == executed, kRefusedTypes);      \
    if (check.failed()) return check.status();                                                     \
    const Type type = as_type(x_type);                                                             \
    return axpy("cublasAxpyEx", handle, X, Y, alpha, as_type(alpha_type));                         \
  }                                                                                                \
  cublasStatus_t cublasScalEx##suffix(cublasHandle_t handle, Size n, const void* alpha,            \
                                      cudaDataType alpha_type, void* x, cudaDataType x_type,       \
                                      Size incx, cudaDataType executed) {                          \
    Check check("cublasScalEx", handle);                                                           \
    check.simulated(fits(x_type, x_type, executed) && alpha_type == executed, kRefusedTypes);      \
    if (check.failed()) return check.status();                                                     \
    const Type type = as_type(x_type);                                                             \
    return scal("cublasScalEx", handle, X, alpha, as_type(alpha_type));                            \
  }                                                                                                \
  cublasStatus_t cublasNrm2Ex##suffix(cublasHandle_t handle, Size n, const void* x,                \
                                      cudaDataType x_type, Size incx, void* to,                    \
                                      cudaDataType to_type, cudaDataType executed) {               \
    const Type type = as_type(x_type);                                                             \
    Check check("cublasNrm2Ex", handle);                                                           \
    check.simulated((fits(x_type, x_type, executed) || as_type(executed) == real_of(type)) &&      \
                        as_type(to_type) == real_of(type),                                         \
                    kRefusedTypes);                                                                \
    if (check.failed()) return check.status();                                                     \
    return reduce_one("cublasNrm2Ex", handle, X, to, as_type(to_type), Norm{});                    \
  }                                                                                                \
  cublasStatus_t cublasDotEx##suffix(                                                              \
      cublasHandle_t handle, Size n, const void* x, cudaDataType x_type, Size incx, const void* y, \
      cudaDataType y_type, Size incy, void* to, cudaDataType to_type, cudaDataType executed) {     \
    Check check("cublasDotEx", handle);                                                            \
    check.simulated(fits(x_type, y_type, executed) && to_type == x_type, kRefusedTypes);           \
    if (check.failed()) return check.status();                                                     \
    const Type type = as_type(x_type);                                                             \
    return dot("cublasDotEx", handle, X, Y, false, to, type);                                      \
  }                                                                                                \
  cublasStatus_t cublasDotcEx##suffix(                                                             \
      cublasHandle_t handle, Size n, const void* x, cudaDataType x_type, Size incx, const void* y, \
      cudaDataType y_type, Size incy, void* to, cudaDataType to_type, cudaDataType executed) {     \
    Check check("cublasDotcEx", handle);                                                           \
    check.simulated(fits(x_type, y_type, executed) && to_type == x_type, kRefusedTypes);           \
    if (check.failed()) return check.status();                                                     \
    const Type type = as_type(x_type);                                                             \
    return dot("cublasDotcEx", handle, X, Y, true, to, type);                                      \
  }

extern "C" {
EVERY_VECTOR(, int)
EVERY_VECTOR(_64, int64_t)
}  // extern "C"
