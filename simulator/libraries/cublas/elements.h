// Elements of matrices and vectors in memory, and the types for computing with them.
//
// A computing type T is float, double, std::complex of either, or std::int32_t. load() converts a
// type in memory to T exactly. store() converts T to the nearest value, ties to even. A value beyond
// the largest number of i8 or FP8 becomes that number (PTX ISA, cvt: .satfinite).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace lockstep::cublas {

// The values are those of cudaDataType.
enum class Type : int {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,
  kI8 = 3,
  kC32 = 4,  // complex: two floats
  kC64 = 5,
  kI32 = 10,
  kBF16 = 14,
  kE4M3 = 28,  // FP8, of cuBLASLt alone; NaN is 0x7f, and there is no infinity
  kE5M2 = 29,
};

inline bool is_fp8(Type type) { return type == Type::kE4M3 || type == Type::kE5M2; }

using C32 = std::complex<float>;
using C64 = std::complex<double>;

// The bytes of an element; 0 if the type is not simulated.
std::size_t size_of(Type type);

// Supported pairs: float with each real type except kF64, int32_t with integers, the other types
// with their own.
template <class T>
T load(Type type, const std::byte* from);
template <class T>
void store(Type type, std::byte* to, T value);

// The nearest value of another type, ties to even. For TF32 (10 fraction bits) ties go away from
// zero, as in PTX's cvt.rna.tf32.
float round_to_f16(float value);
float round_to_bf16(float value);
float round_to_tf32(float value);

// Calls f with a value of the computing type for elements of `type`.
template <class F>
auto with_computed(Type type, F&& f) {
  switch (type) {
    case Type::kF64: return f(double{});
    case Type::kC32: return f(C32{});
    case Type::kC64: return f(C64{});
    case Type::kI32: return f(std::int32_t{});
    default: return f(float{});
  }
}

// The same for types that are not integers.
template <class F>
auto with_floating(Type type, F&& f) {
  switch (type) {
    case Type::kF64: return f(double{});
    case Type::kC32: return f(C32{});
    case Type::kC64: return f(C64{});
    default: return f(float{});
  }
}

// a * b + c, rounded once if T is real. For complex T, each product of parts is rounded so.
inline float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline std::int32_t multiply_add(std::int32_t a, std::int32_t b, std::int32_t c) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) +
                                   static_cast<std::uint32_t>(c));
}
template <class R>
std::complex<R> multiply_add(std::complex<R> a, std::complex<R> b, std::complex<R> c) {
  return {multiply_add(-a.imag(), b.imag(), multiply_add(a.real(), b.real(), c.real())),
          multiply_add(a.imag(), b.real(), multiply_add(a.real(), b.imag(), c.imag()))};
}

template <class T>
T conjugate(T value) {
  if constexpr (requires { value.imag(); }) {
    return std::conj(value);
  } else {
    return value;
  }
}

}  // namespace lockstep::cublas
