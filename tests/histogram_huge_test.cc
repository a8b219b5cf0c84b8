// The histogram of more elements than 31 bits count; a minute a case on the simulated GPU, so that it runs there in the
// nightly configuration alone.
#include <gtest/gtest.h>

#include "harness/property.h"
#include "kernels/histogram.h"
#include "properties/histogram.h"

namespace lockstep::properties {
namespace {

using kernels::histogram;

PROPERTY_CASES(HugeHistogram, CountsPast31Bits, 2, const HugeHistogramCase& c) {
  histogram_counts_past_31_bits(histogram, c);
}

PROPERTY_CASES(HugeHistogram, CountsPast31BitsInClusters, 1, const HugeHistogramCase& c) {
  histogram_counts_past_31_bits_in_clusters(histogram, c);
}

}  // namespace
}  // namespace lockstep::properties
