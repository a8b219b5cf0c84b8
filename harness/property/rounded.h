// IEEE 754 arithmetic on the host in any rounding mode, as with CUDA's intrinsics on the device:
// rounded_add(a, b, Rounding::kZero) has the bits of __fadd_rz(a, b) or __dadd_rz(a, b). It serves
// to write a chain of roundings operation by operation, and the chains of possible mistakes.
//
// Each operation rounds once and keeps subnormals. The compiler neither fuses nor reorders
// operations of separate calls. Payload and sign of a NaN are unspecified: they differ between host
// and device. For float and double.
#pragma once

#include <cstdint>
#include <limits>

namespace lockstep {

enum class Rounding : std::uint8_t {
  kNearest,  // _rn: to nearest, ties to even
  kZero,     // _rz
  kUp,       // _ru
  kDown,     // _rd
};

template <class T>
T rounded_add(T a, T b, Rounding mode = Rounding::kNearest);
template <class T>
T rounded_sub(T a, T b, Rounding mode = Rounding::kNearest);
template <class T>
T rounded_mul(T a, T b, Rounding mode = Rounding::kNearest);
template <class T>
T rounded_div(T a, T b, Rounding mode = Rounding::kNearest);
template <class T>
T rounded_sqrt(T a, Rounding mode = Rounding::kNearest);
// a * b + c.
template <class T>
T rounded_fma(T a, T b, T c, Rounding mode = Rounding::kNearest);

// Replaces a subnormal with the zero of its sign, as -ftz=true does with operands and results.
template <class T>
constexpr T flushed(T x) {
  const bool subnormal = x < std::numeric_limits<T>::min() && x > -std::numeric_limits<T>::min();
  return subnormal ? x * T{0} : x;
}

}  // namespace lockstep
