// Random numbers of a format on which different matrix units differ.
#pragma once

#include <cstdint>

#include "harness/matrix_unit/number_format.h"

namespace lockstep::matrix_unit {

enum class NumberRange : std::uint8_t {
  kNearOne,
  kAll,         // any finite number
  kSpread,      // exponents as far apart as the bits that units keep
  kCancelling,  // zeros, and a few magnitudes with both signs
  kTiny,        // zeros, subnormal numbers and the least normal ones
  kHuge,        // up to overflow
  kSpecial,     // infinities and NaNs among numbers near one
};

// Makes a number from 64 random bits.
std::uint64_t random_number(const NumberFormat& format, NumberRange range, std::uint64_t random);

}  // namespace lockstep::matrix_unit
