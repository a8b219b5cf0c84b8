// How a copy converts an element that it loads. The encoding of maps and the copies through them
// are compared with silicon elsewhere (tests/tensor_maps).
#include "simulator/memory/tensor_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace lockstep::memory {
namespace {

std::uint32_t bits_of(float f) { return std::bit_cast<std::uint32_t>(f); }

// The nearest value with ten fraction bits, ties away from zero, computed in doubles.
std::uint32_t rounded(std::uint32_t bits) {
  const float f = std::bit_cast<float>(bits);
  if (std::isnan(f)) return 0x7fffe000;
  if (std::isinf(f) || f == 0) return bits;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(f), -126) - 10);
  // Above the largest float the result is an infinity.
  return bits_of(static_cast<float>(std::round(static_cast<double>(f) / unit) * unit));
}

TEST(LoadedWord, Tf32IsTheNearestValueOfTenFractionBits) {
  std::mt19937 random(1);
  for (const TensorType type : {TensorType::kTF32, TensorType::kTF32Ftz}) {
    for (std::uint32_t high = 0; high < 0x10000; high += 0x20) {
      // Every sign and exponent, and two bits of the fraction. Below the cut: ties and their
      // neighbours.
      for (const std::uint32_t low : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu, 0x2fffu,
                                      0x3000u, 0x1ff000u, 0x1fffffu}) {
        const std::uint32_t bits = high << 16 | low;
        ASSERT_EQ(loaded_word(type, bits), rounded(bits)) << std::hex << bits;
      }
    }
    for (int i = 0; i < 100'000; ++i) {
      const std::uint32_t bits = random();
      ASSERT_EQ(loaded_word(type, bits), rounded(bits)) << std::hex << bits;
    }
  }
}

TEST(LoadedWord, Tf32KeepsInfinitiesAndHasOneNaN) {
  EXPECT_EQ(loaded_word(TensorType::kTF32, 0x7f800000), 0x7f800000u);
  EXPECT_EQ(loaded_word(TensorType::kTF32, 0xff800000), 0xff800000u);
  EXPECT_EQ(loaded_word(TensorType::kTF32, 0x7f800001), 0x7fffe000u);
  EXPECT_EQ(loaded_word(TensorType::kTF32, 0xffffffff), 0x7fffe000u);
  EXPECT_EQ(loaded_word(TensorType::kTF32, 0x7f7fffff), 0x7f800000u);
  EXPECT_EQ(loaded_word(TensorType::kTF32, 0x80000001), 0x80000000u);
}

TEST(LoadedWord, OtherTypesAreLoadedAsTheyAre) {
  for (const TensorType type : {TensorType::kU32, TensorType::kS32, TensorType::kF32,
                                TensorType::kF32Ftz, TensorType::kU16, TensorType::kBF16}) {
    for (const std::uint32_t bits : {0u, 1u, 0x1000u, 0x7f800000u, 0x7f800001u, 0xffffffffu}) {
      EXPECT_EQ(loaded_word(type, bits), bits);
    }
  }
}

}  // namespace
}  // namespace lockstep::memory
