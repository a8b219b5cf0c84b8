#include "harness/matrix_unit/random_numbers.h"

#include <algorithm>

namespace lockstep::matrix_unit {

std::uint64_t random_number(const NumberFormat& f, NumberRange range, std::uint64_t random) {
  const std::uint64_t sign = (random & 1) != 0 ? f.sign() : 0, choice = random >> 1 & 0x7ff;
  const std::uint64_t ones = (std::uint64_t{1} << f.fraction_bits) - 1;
  std::uint64_t fraction = random >> 12 & ones;
  const int top = (1 << f.exponent_bits) - 1, bias = f.bias();
  const auto up_to = [&](int n) {
    return static_cast<int>(choice % static_cast<std::uint64_t>(n));
  };
  int exponent = 0;
  switch (range) {
    case NumberRange::kNearOne: exponent = bias - 2 + up_to(4); break;
    case NumberRange::kAll: exponent = up_to(top); break;
    case NumberRange::kSpread: {
      constexpr int kDown[] = {0, 0, 5, 6, 10, 12, 13, 14};
      exponent = std::max(0, bias - kDown[choice % 8]);
      if ((choice >> 3 & 1) != 0) fraction = (choice >> 4 & 1) != 0 ? 0 : ones;
      break;
    }
    case NumberRange::kCancelling:
      if (choice % 4 == 0) return sign;
      exponent = bias + static_cast<int>(choice >> 2 & 1);
      if ((choice >> 3 & 3) != 0) fraction = (choice >> 5 & 1) != 0 ? ones : 0;
      break;
    case NumberRange::kTiny:
      if (choice % 4 == 0) return sign;
      exponent = static_cast<int>(choice >> 2) % 3;
      break;
    case NumberRange::kHuge: exponent = top - 1 - up_to(3); break;
    case NumberRange::kSpecial:
      exponent = choice % 16 == 0 ? top : bias - 1 + up_to(3);
      if (choice % 64 == 0 && f.has_infinity) fraction = 0;
      break;
  }
  std::uint64_t number = static_cast<std::uint64_t>(exponent) << f.fraction_bits | fraction;
  if (range != NumberRange::kSpecial &&
      take_apart(number << f.ignored_bits, f).kind != Parts::Kind::kFinite)
    --number;
  // The ignored bits are random, too.
  const std::uint64_t ignored =
      random * 0x9e3779b97f4a7c15 >> 32 & ((std::uint64_t{1} << f.ignored_bits) - 1);
  return sign | number << f.ignored_bits | ignored;
}

}  // namespace lockstep::matrix_unit
