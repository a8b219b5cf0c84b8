// A histogram of more elements than 32 bits count, which repeat a short array.
//
// The simulated GPU executes only the first and the last blocks of the grid (SampledBlocks), which
// process the first and the last elements. By their place in the period, those elements count in
// one bin and all others in another.
#pragma once

#include <cstdint>

#include "properties/histogram.h"

namespace lockstep::properties {

struct ManyPeriodsCase {
  int block = 256;

  static void fields(ManyPeriodsCase& c, FieldVisitor& field);
};

// Each path of the device must count each element by the value at its place in the period.
void counts_many_periods(const Histogram& histogram, const ManyPeriodsCase& c);

// Without a period: more elements than 31 and 32 bits count, of which only the first and the last
// are backed by memory. The first block or cluster must count the first elements, the last block
// the last elements. On the simulated GPU.
void counts_at_far_ends(const Histogram& histogram, const ManyPeriodsCase& c);

}  // namespace lockstep::properties
