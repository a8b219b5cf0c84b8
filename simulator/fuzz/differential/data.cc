#include "simulator/fuzz/differential/data.h"

#include <vector>

#include "simulator/fuzz/differential/choices.h"
#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {
namespace {

constexpr std::uint32_t kSingles[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                      0xff800000, 0x7fffffff, 0x7fc12345, 0x00000001, 0x807fffff,
                                      0x00800000, 0x7f7fffff, 0x3f800001, 0x3f7fffff, 0x4b000000,
                                      0xcb000001, 0x4f000000, 0x5f000000, 0x33800000, 0x40490fdb};
constexpr std::uint32_t kIntegers[] = {
    0,          1,          2,          3,          31,         32,         33,         0x7fffffff,
    0x80000000, 0xffffffff, 0xfffffffe, 0x55555555, 0xaaaaaaaa, 0x0000ffff, 0xffff0000, 0x00010001,
    0x80008000, 0x7fff7fff, 0x01020304, 0x80808080, 100,        255,        256,        65536};
constexpr std::uint32_t kHalves[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                     0x7e00, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x3f80,
                                     0xbf80, 0x7f80, 0x0080, 0x4200, 0x3555};

// A word that is often a meaningful number, two meaningful halves, or the upper word of an f64.
std::uint32_t word(Choices& choose) {
  switch (choose.below(10)) {
    case 0: return choose.of(kIntegers);
    case 1: return choose.of(kSingles);
    case 2: return choose.of(kHalves) | choose.of(kHalves) << 16;
    case 3: return static_cast<std::uint32_t>(choose.below(64));
    case 4:
    case 5: {  // a number of moderate size
      const std::uint64_t b = choose.bits();
      return static_cast<std::uint32_t>((b & 0x807fffff) | (0x78 + (b >> 40) % 16) << 23);
    }
    case 6: {  // an f64's upper word
      const std::uint64_t b = choose.bits();
      return static_cast<std::uint32_t>((b & 0x800fffff) | (0x3f8 + (b >> 40) % 16) << 20);
    }
    default: return static_cast<std::uint32_t>(choose.bits());
  }
}

std::vector<std::uint32_t> words(std::uint64_t seed, std::size_t n) {
  Choices choose(seed);
  std::vector<std::uint32_t> v(n);
  for (std::uint32_t& w : v) w = word(choose);
  return v;
}

}  // namespace

std::span<const std::uint32_t> input_data() {
  static const std::vector<std::uint32_t> data = [] {
    auto v = words(1, kInputBytes / 4);
    v[0] = 0;  // programs use it to guard code that must not be executed
    return v;
  }();
  return data;
}

std::span<const std::uint32_t> constant_data() {
  static const std::vector<std::uint32_t> data = words(2, kConstantBytes / 4);
  return data;
}

}  // namespace lockstep::fuzz::differential
