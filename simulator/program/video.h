// The operation of a video instruction, encoded in the 64 bits of Op::immediate (PTX ISA 9.0,
// 9.7.18 and 9.7.19).
#pragma once

#include <cstdint>

namespace lockstep::program {

struct Video {
  enum class Work : std::uint8_t {
    kAdd,
    kSub,
    kAbsoluteDifference,
    kMin,
    kMax,
    kShiftLeft,
    kShiftRight,
    kMultiplyAdd,
    kCompare,
    kAverage
  };
  enum class Second : std::uint8_t { kNone, kAdd, kMin, kMax };  // with the last source
  // Bits of `flags`.
  enum : std::uint8_t {
    kSignedResult = 1,
    kSignedA = 2,
    kSignedB = 4,
    kSaturates = 8,
    kPlusOne = 16,
    kWraps = 32,
    kMinusProduct = 64,
    kMinusC = 128
  };

  std::uint8_t work : 4;    // Work
  std::uint8_t second : 2;  // Second
  std::uint8_t lanes : 2;   // 0: scalar, 1: two halves, 2: four bytes
  std::uint8_t flags;
  std::uint8_t compare : 4;  // isa::Compare
  std::uint8_t shift : 4;    // of vmad's result: 0, 7 or 15
  std::uint8_t to;  // scalar: a part (below), and the last source is merged; SIMD: the lanes that
                    // are written
  // Scalar: 0 is the whole, 1 to 4 a byte, 5 and 6 a half. SIMD: three bits a lane, which select a
  // lane of the two sources; the first source's lanes come first.
  std::uint16_t a, b;
};
static_assert(sizeof(Video) == 8);

}  // namespace lockstep::program
