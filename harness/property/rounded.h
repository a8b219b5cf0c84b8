// IEEE 754 arithmetic on the host in any rounding mode, as CUDA's intrinsics do it on the device:
// rounded_add(a, b, Rounding::kZero) has the bits of __fadd_rz(a, b) or __dadd_rz(a, b). With it a
// chain of roundings is written down operation by operation, and so is what a mistake would make of
// it.
//
// Each operation rounds once, subnormals are kept, and the compiler neither fuses nor reorders what
// stands in other calls. NaN is some NaN: payloads and signs differ between host and device. For
// float and double.
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

// A subnormal becomes the zero of its sign: what -ftz=true makes of operands and results.
template <class T>
constexpr T flushed(T x) {
  const bool subnormal = x < std::numeric_limits<T>::min() && x > -std::numeric_limits<T>::min();
  return subnormal ? x * T{0} : x;
}

}  // namespace lockstep
