// Measures how a matrix unit computes with integers, and computes an element by the measured rules.
//
// The sum of C and all products is exact. Three rules remain to be measured. Do factors have a
// sign? Does a sum that exceeds 32 bits saturate or wrap? For single bits: does the unit count the
// bits that differ, or those that are both set?
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
  bool has_sign = false;   // the factors are signed
  bool saturates = false;  // otherwise a sum that exceeds 32 bits wraps
  bool counts_differing =
      false;  // single bits: counts those that differ; otherwise those that are both set
};

// The 32 bits of D. Dot's elements are zero-extended.
std::uint64_t element_of(const IntegerUnit& unit, const IntegerFormats& formats, const Dot& dot);

struct IntegerMeasurement {
  IntegerUnit unit;
  std::vector<std::pair<std::string, Finding>> findings;  // by name, in the order of display
  bool explains_all() const;
};
IntegerMeasurement measure(const IntegerFormats& formats, const Multiplier& multiply);

}  // namespace lockstep::matrix_unit
