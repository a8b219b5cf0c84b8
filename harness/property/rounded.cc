#include "harness/property/rounded.h"

#include <cfenv>
#include <cmath>

// Compiled with -frounding-math, which keeps an operation between the two changes of the mode.
namespace lockstep {
namespace {

constexpr int mode_of(Rounding mode) {
  switch (mode) {
    case Rounding::kNearest: return FE_TONEAREST;
    case Rounding::kZero: return FE_TOWARDZERO;
    case Rounding::kUp: return FE_UPWARD;
    case Rounding::kDown: return FE_DOWNWARD;
  }
  return FE_TONEAREST;
}

// The program's own mode is to nearest. A change of mode takes longer than any of the operations.
template <class T, class Operation>
T with(Rounding mode, Operation&& operation) {
  if (mode == Rounding::kNearest) return operation();
  std::fesetround(mode_of(mode));
  const volatile T result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

// A value that the compiler cannot deduce.
template <class T>
T opaque(T x) {
  volatile T held = x;
  return held;
}

}  // namespace

template <class T>
T rounded_add(T a, T b, Rounding mode) {
  return with<T>(mode, [&] { return opaque(a) + opaque(b); });
}
template <class T>
T rounded_sub(T a, T b, Rounding mode) {
  return with<T>(mode, [&] { return opaque(a) - opaque(b); });
}
template <class T>
T rounded_mul(T a, T b, Rounding mode) {
  return with<T>(mode, [&] { return opaque(a) * opaque(b); });
}
template <class T>
T rounded_div(T a, T b, Rounding mode) {
  return with<T>(mode, [&] { return opaque(a) / opaque(b); });
}
template <class T>
T rounded_sqrt(T a, Rounding mode) {
  return with<T>(mode, [&] { return std::sqrt(opaque(a)); });
}
template <class T>
T rounded_fma(T a, T b, T c, Rounding mode) {
  return with<T>(mode, [&] { return std::fma(opaque(a), opaque(b), opaque(c)); });
}

#define LOCKSTEP_ROUNDED_OF(T)               \
  template T rounded_add<T>(T, T, Rounding); \
  template T rounded_sub<T>(T, T, Rounding); \
  template T rounded_mul<T>(T, T, Rounding); \
  template T rounded_div<T>(T, T, Rounding); \
  template T rounded_sqrt<T>(T, Rounding);   \
  template T rounded_fma<T>(T, T, T, Rounding);
LOCKSTEP_ROUNDED_OF(float)
LOCKSTEP_ROUNDED_OF(double)
#undef LOCKSTEP_ROUNDED_OF

}  // namespace lockstep
