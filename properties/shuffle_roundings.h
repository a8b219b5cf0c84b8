// The roundings of the sums in kernels/shuffle.h, their neighbours, and segments on which their
// results differ. For float, double and Half.
#pragma once

#include <vector>

#include "harness/property/half.h"
#include "harness/property/rounding_search.h"
#include "reference/shuffle.h"

namespace lockstep::properties {

// The addition of T on the device: rounded once to nearest.
float device_sum(float a, float b);
double device_sum(double a, double b);
Half device_sum(Half a, Half b);

// A segment of at least 4 lanes. The result is that of its first lane; for a scan, of its last
// lane.
template <class T>
using SegmentRoundings = RoundingSearch<std::vector<T>, T>;

// `kind`: kAll or kInclusive.
template <class T>
const SegmentRoundings<T>& segment_roundings(reference::SegmentSum kind);

// Terms of similar size, on which every rounding can matter; some are subnormal.
template <class T>
std::vector<T> any_segment(int width, Bits& bits);

}  // namespace lockstep::properties
