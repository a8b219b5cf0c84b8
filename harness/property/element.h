// Elements of device arrays as text and as scalars.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "harness/property/half.h"

namespace lockstep {

// The size of T's scalars. A poison pattern repeats after that many bytes. For a struct it follows
// from the alignment (float3: 4). Specialise it for vector types that are aligned to their whole
// size (float2).
template <class T>
inline constexpr std::size_t kScalarBytes = std::is_arithmetic_v<T> ? sizeof(T)
                                            : alignof(T) < 8        ? alignof(T)
                                                                    : 8;

// "0.1 (0x3dcccccd)": the bits, and enough digits to distinguish neighbours.
std::string element_text(float v);
std::string element_text(double v);
std::string element_text(Half v);
// "-7".
std::string element_text(std::int64_t v);
std::string element_text(std::uint64_t v);
// "0x" and the bytes, the last byte first, as in a number.
std::string element_text(const void* bytes, std::size_t count);

namespace detail {
template <class T>
std::string text_of(const void* element) {
  T v;
  std::memcpy(&v, element, sizeof v);  // the bytes need not be aligned
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half>) {
    return element_text(v);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return element_text(static_cast<std::int64_t>(v));
  } else if constexpr (std::is_integral_v<T>) {
    return element_text(static_cast<std::uint64_t>(v));
  } else {
    return element_text(element, sizeof(T));
  }
}
}  // namespace detail

}  // namespace lockstep
