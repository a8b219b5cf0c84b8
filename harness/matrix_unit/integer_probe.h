// How a matrix unit computes with integers: measured, and what it computes if that is how.
//
// The sum of C and all products is exact. What is left to say: whether factors have a sign, what
// becomes of a sum that does not fit 32 bits, and of bits whether those that differ are counted or
// those that are both set.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/matrix_unit/probe.h"

namespace lockstep::matrix_unit {

struct IntegerFormats {
  int factor_bits = 8;  // 8, 4 or 1
  int k = 0;
};

struct IntegerUnit {
  bool has_sign = false;          // of the factors
  bool saturates = false;         // else a sum that does not fit wraps
  bool counts_differing = false;  // of single bits; else those that are both set
};

// D's 32 bits; Dot's elements are zero-extended.
std::uint64_t element_of(const IntegerUnit& unit, const IntegerFormats& formats, const Dot& dot);

struct IntegerMeasurement {
  IntegerUnit unit;
  std::vector<std::pair<std::string, Finding>> findings;  // by their names, in the order of reading
  bool explains_all() const;
};
IntegerMeasurement measure(const IntegerFormats& formats, const Multiplier& multiply);

}  // namespace lockstep::matrix_unit
