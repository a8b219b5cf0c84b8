// A histogram of more elements than 32 bits count, which are a short array again and again.
//
// The simulated GPU runs the first and the last blocks of the grid alone (SampledBlocks), in which
// the first and the last elements are: those, by their place in the period, count in one bin, and
// all others in another.
#pragma once

#include <cstdint>

#include "properties/histogram.h"

namespace lockstep::properties {

struct ManyPeriodsCase {
  int block = 256;

  static void fields(ManyPeriodsCase& c, FieldVisitor& field);
};

// Each path that the device has counts each element by what is at its place in the period.
void counts_many_periods(const Histogram& histogram, const ManyPeriodsCase& c);

// Without a period: more elements than 31 and 32 bits count, with only the first and the last ones
// backed. The first block, or cluster, counts the first ones, the last block the last ones. On the
// simulated GPU.
void counts_at_far_ends(const Histogram& histogram, const ManyPeriodsCase& c);

}  // namespace lockstep::properties
