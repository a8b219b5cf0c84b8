// Measures how a matrix unit computes: the parameters of unit_arithmetic.h. Each input is chosen
// from the results of the inputs before it. A parameter that no input decides is reported as
// undecided, never guessed.
//
// Method: two large terms of opposite signs cancel, and a small term survives or is lost.
//   Steps      The small term survives in a later step than both large terms. Triples of k thus
//              determine the steps and their order.
//   Bits kept  Within one step the small term survives down to the last bit that is kept. Values
//              between two such bits show the direction of the cut. Significands of 2 and more show
//              which exponent a product has.
//   Rounding   Sums halfway between two results, of either sign, or just above and below, show the
//              rounding; a growing sum shows the number of fraction bits.
//   Zero       Near the least results, the bits cut depend on the exponent of zero terms.
//   The rest   One input each: subnormal numbers, overflow, signs of zero, NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/matrix_unit/unit_arithmetic.h"

namespace lockstep::matrix_unit {

// The unit under test: returns an element of D for each dot product.
using Multiplier = std::function<std::vector<std::uint64_t>(const std::vector<Dot>&)>;

enum class Property : std::uint8_t {
  kSteps,              // which k are summed at once, and the order of the steps
  kC,                  // whether C is a term of the first step
  kFractionBits,       // bits kept below the largest exponent
  kCut,                // how the bits below these are rounded
  kProductExponent,    // whether a product of 2 or more is normalised
  kSubnormalExponent,  // whether a subnormal factor is normalised
  kZeroExponent,       // the exponent of a zero term
  kResultBits,         // of a sum
  kRounding,           // of a sum
  kBetweenSteps,       // whether the sum of each step is rounded like this
  kSubnormalFactors,   // whether they count, or are zero
  kSubnormalC,         //
  kSubnormalResults,   //
  kOverflow,           // the result of a sum beyond the largest number
  kMinusZero,          // the result of a sum of -0 only
  kUnderflow,          // the sign of a negative sum that rounds to zero
  kNaN,                // the bits of a NaN result
};
const char* name_of(Property p);  // "products at once"

struct Finding {
  enum class Certainty : std::uint8_t {
    kMeasured,
    kAtLeast,        // no input reaches further
    kAtMost,         // likewise
    kNoEffect,       // no input shows it, so no result depends on it
    kNotDetermined,  // the model cannot explain the results
  } certainty = Certainty::kNotDetermined;
  std::string text;  // "25"
};

struct Measurement {
  UnitArithmetic unit;                   // undetermined parameters have their defaults
  std::map<Property, Finding> findings;  // for all properties

  bool determined(Property p) const;
  // Whether `unit` determines the result of every input.
  bool explains_all() const;
};

Measurement measure(const Formats& formats, const Multiplier& multiply);

}  // namespace lockstep::matrix_unit
