#include "simulator/libraries/cublas/elements.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace lockstep::cublas {
namespace {

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t f16_bits(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }

float from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                              : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  if ((bits & 0x7f) == 0x7f) value = std::nanf("");
  return (bits & 0x80) != 0 ? -value : value;
}
// It is the upper half of an f16.
float from_e5m2(std::uint8_t bits) { return _cvtsh_ss(static_cast<std::uint16_t>(bits << 8)); }

std::uint8_t fp8_bits(float value, int fraction_bits, int bias, int largest) {
  const int sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return static_cast<std::uint8_t>(sign | 0x7f);
  if (std::isinf(value)) return static_cast<std::uint8_t>(sign | largest);
  const float magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = magnitude == 0 ? 1 - bias : std::max(exponent - 1, 1 - bias);
  // In units of the last place: a carry out of the fraction goes to the exponent.
  const auto units =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  const int bits = units + ((exponent + bias - 1) << fraction_bits);
  return static_cast<std::uint8_t>(sign | std::min(bits, largest));
}

}  // namespace

std::size_t size_of(Type type) {
  switch (type) {
    case Type::kF32:
    case Type::kI32: return 4;
    case Type::kF64:
    case Type::kC32: return 8;
    case Type::kF16:
    case Type::kBF16: return 2;
    case Type::kI8:
    case Type::kE4M3:
    case Type::kE5M2: return 1;
    case Type::kC64: return 16;
  }
  return 0;
}

float round_to_f16(float value) { return _cvtsh_ss(f16_bits(value)); }
float round_to_bf16(float value) { return from_bf16(bf16_bits(value)); }
float round_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000) & ~0x1fffu);
}

template <>
float load<float>(Type type, const std::byte* from) {
  switch (type) {
    case Type::kF16: return _cvtsh_ss(get<std::uint16_t>(from));
    case Type::kBF16: return from_bf16(get<std::uint16_t>(from));
    case Type::kI8: return get<std::int8_t>(from);
    case Type::kE4M3: return from_e4m3(get<std::uint8_t>(from));
    case Type::kE5M2: return from_e5m2(get<std::uint8_t>(from));
    case Type::kI32: return static_cast<float>(get<std::int32_t>(from));
    default: return get<float>(from);
  }
}
template <>
double load<double>(Type, const std::byte* from) {
  return get<double>(from);
}
template <>
C32 load<C32>(Type, const std::byte* from) {
  return get<C32>(from);
}
template <>
C64 load<C64>(Type, const std::byte* from) {
  return get<C64>(from);
}
template <>
std::int32_t load<std::int32_t>(Type type, const std::byte* from) {
  return type == Type::kI8 ? get<std::int8_t>(from) : get<std::int32_t>(from);
}

template <>
void store<float>(Type type, std::byte* to, float value) {
  switch (type) {
    case Type::kF16: return put(to, f16_bits(value));
    case Type::kBF16: return put(to, bf16_bits(value));
    case Type::kE4M3: return put(to, fp8_bits(value, 3, 7, 0x7e));
    case Type::kE5M2: return put(to, fp8_bits(value, 2, 15, 0x7b));
    case Type::kI8:
      return put(to, static_cast<std::int8_t>(
                         std::nearbyint(std::fmin(std::fmax(value, -128.0f), 127.0f))));
    default: return put(to, value);
  }
}
template <>
void store<double>(Type, std::byte* to, double value) {
  put(to, value);
}
template <>
void store<C32>(Type, std::byte* to, C32 value) {
  put(to, value);
}
template <>
void store<C64>(Type, std::byte* to, C64 value) {
  put(to, value);
}
template <>
void store<std::int32_t>(Type, std::byte* to, std::int32_t value) {
  put(to, value);
}

}  // namespace lockstep::cublas
