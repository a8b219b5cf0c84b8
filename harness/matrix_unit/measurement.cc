#include <algorithm>

#include "harness/matrix_unit/probe.h"

namespace lockstep::matrix_unit {

using Certainty = Finding::Certainty;
using enum Property;

const char* name_of(Property p) {
  switch (p) {
    case kSteps: return "products at once";
    case kC: return "C";
    case kFractionBits: return "bits below the largest";
    case kCut: return "terms are cut";
    case kProductExponent: return "exponent of a product";
    case kSubnormalExponent: return "exponent of a subnormal factor";
    case kZeroExponent: return "exponent of zero";
    case kResultBits: return "bits of a sum";
    case kRounding: return "sums are rounded";
    case kBetweenSteps: return "between steps";
    case kSubnormalFactors: return "subnormal factors";
    case kSubnormalC: return "subnormal C";
    case kSubnormalResults: return "subnormal results";
    case kOverflow: return "overflow";
    case kMinusZero: return "sum of -0";
    case kUnderflow: return "negative sum that rounds to zero";
    case kNaN: return "NaN";
  }
  return "";
}

bool Measurement::determined(Property p) const {
  return findings.at(p).certainty != Certainty::kNotDetermined;
}

bool Measurement::explains_all() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const auto& f) { return f.second.certainty != Certainty::kNotDetermined; });
}

}  // namespace lockstep::matrix_unit
