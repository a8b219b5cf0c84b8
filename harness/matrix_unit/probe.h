// Measures how a matrix unit computes: the parameters of unit_arithmetic.h. Each input is chosen
// from the results of the inputs before it. A parameter that no input decides is reported as
// undecided, never guessed.
//
// Method: two large terms of opposite sign cancel, and a small one survives or not.
//   Steps      It survives where it comes in a later step than both. Pairs of k thus give the steps
//              and their order.
//   Bits kept  Within one step it survives down to the last bit that is kept. Values between two
//              such bits show the direction of the cut, and so do significands of 2 and more, whose
//              exponent a product has.
//   Rounding   Sums halfway between two results, of either sign, or just above and below, show the
//              rounding; a growing sum shows the number of bits below the last.
//   Zero       Of the least results: the bits cut from them depend on the exponent of zero terms.
//   The rest   One input each: subnormal numbers, overflow, signs of zero, NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/matrix_unit/unit_arithmetic.h"

namespace lockstep::matrix_unit {

// The unit: an element of D for each dot product.
using Multiplier = std::function<std::vector<std::uint64_t>(const std::vector<Dot>&)>;

enum class Property : std::uint8_t {
  kSteps,              // which k are summed at once, and the order of the steps
  kC,                  // whether C is a term of the first step
  kFractionBits,       // kept below the largest exponent
  kCut,                // where the bits below go
  kProductExponent,    // whether a product of 2 and more is normalised
  kSubnormalExponent,  // whether a subnormal factor is
  kZeroExponent,       // of a term that is zero
  kResultBits,         // of a sum
  kRounding,           // of a sum
  kBetweenSteps,       // whether the sum of each step is rounded so
  kSubnormalFactors,   // whether they count
  kSubnormalC,         //
  kSubnormalResults,   //
  kOverflow,           // what a sum beyond the greatest number gives
  kMinusZero,          // what a sum of -0 alone gives
  kUnderflow,          // the sign of a negative sum that rounds to zero
  kNaN,                // the bits of one
};
const char* name_of(Property p);  // "products at once"

struct Finding {
  enum class Certainty : std::uint8_t {
    kMeasured,
    kAtLeast,        // no input reaches further
    kAtMost,         // likewise
    kNoEffect,       // no input shows it, so that no result depends on it
    kNotDetermined,  // inputs contradict what the model can say
  } certainty = Certainty::kNotDetermined;
  std::string text;  // "25"
};

struct Measurement {
  UnitArithmetic unit;                   // of what is not determined, the defaults
  std::map<Property, Finding> findings;  // all properties

  bool determined(Property p) const;
  // Whether nothing is undetermined that `unit` needs to say what any input gives.
  bool explains_all() const;
};

Measurement measure(const Formats& formats, const Multiplier& multiply);

}  // namespace lockstep::matrix_unit
