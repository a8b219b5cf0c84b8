// A histogram with more bins than 31 or 32 bits count, at the cost of a few.
//
// Only bins with counts are backed by memory, at addresses as far apart as their numbers require.
// The launcher would fill all bins with zeros. Therefore the launch is captured, and the fill is
// checked and removed from the graph.
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

// Checks the counts of the first bins, of the bins around the greatest int, and of the last bins.
void counts_in_far_bins(const Histogram& histogram, const FarBinsCase& c);

}  // namespace lockstep::properties
