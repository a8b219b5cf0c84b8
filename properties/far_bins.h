// A histogram of more bins than 31 or 32 bits count, at the cost of a few.
//
// Only the bins in which something counts are there, in addresses as far apart as their numbers
// say. The launcher fills all of them: of a launch that is captured, the fill is looked at and
// taken out of the graph.
#pragma once

#include <cstdint>

#include "properties/histogram.h"

namespace lockstep::properties {

struct FarBinsCase {
  std::int64_t bins = 0;
  int n = 0, block = 32;
  std::uint64_t seed = 0;

  static void fields(FarBinsCase& c, FieldVisitor& field);
};

// The counts of the first bins, of those at the greatest int and of the last.
void counts_in_far_bins(const Histogram& histogram, const FarBinsCase& c);

}  // namespace lockstep::properties
