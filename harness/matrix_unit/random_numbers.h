// Random numbers of a format that make matrix units differ from one another.
#pragma once

#include <cstdint>

#include "harness/matrix_unit/number_format.h"

namespace lockstep::matrix_unit {

enum class NumberRange : std::uint8_t {
  kNearOne,
  kAll,         // any finite number
  kSpread,      // exponents as far apart as units keep bits
  kCancelling,  // zeros, and few magnitudes of either sign
  kTiny,        // subnormal, and the least normal ones, with zeros
  kHuge,        // up to overflow
  kSpecial,     // infinities and NaNs among numbers near one
};

// Of 64 random bits.
std::uint64_t random_number(const NumberFormat& format, NumberRange range, std::uint64_t random);

}  // namespace lockstep::matrix_unit
