// The histogram's kernels against every law of properties/histogram.h.
#include "kernels/histogram.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/histogram.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

using kernels::histogram;

PROPERTY_CASES(Histogram, MatchesItsReference, 1500, const HistogramCase& c) {
  histogram_matches_its_reference(histogram, c);
}

PROPERTY_CASES(Histogram, InClustersMatchesItsReference, 400, const ClusterHistogramCase& c) {
  histogram_in_clusters_matches_its_reference(histogram, c);
}

PROPERTY_CASES(Histogram, InClustersOf16MatchesItsReference, 100, const ClusterHistogramCase& c) {
  histogram_in_clusters_of_16_matches_its_reference(histogram, c);
}

PROPERTY_CASES(Histogram, BinsSumToN, 200, const HistogramCase& c) { histogram_bins_sum_to_n(histogram, c); }

PROPERTY_CASES(Histogram, DoesNotDependOnOrder, 200, const HistogramCase& c) {
  histogram_does_not_depend_on_order(histogram, c);
}

PROPERTY_CASES(Histogram, OfAConcatenationAdds, 200, const SplitHistogramCase& c) {
  histogram_of_a_concatenation_adds(histogram, c);
}

PROPERTY_CASES(Histogram, PathsAgree, 200, const HistogramCase& c) { histogram_paths_agree(histogram, c); }

PROPERTY_CASES(Histogram, OfAPeriodRepeatedMultiplies, 200, const PeriodicHistogramCase& c) {
  histogram_of_a_period_repeated_multiplies(histogram, c);
}

PROPERTY_CASES(Histogram, TakesTheFirstPathThatHoldsTheBins, 100, const CapacityHistogramCase& c) {
  histogram_takes_the_first_path_that_holds_the_bins(histogram, c);
}

PROPERTY_CASES(Histogram, IsDeterministic, 15, const ScheduledHistogramCase& c) {
  histogram_is_deterministic(histogram, c);
}

PROPERTY_CASES(Histogram, InClustersIsDeterministic, 8, const ScheduledHistogramCase& c) {
  histogram_in_clusters_is_deterministic(histogram, c);
}

PROPERTY_CASES(Histogram, RefusesBadArguments, 200, const RefusedHistogramCase& c) {
  histogram_refuses_bad_arguments(histogram, c);
}

PROPERTY_CASES(Histogram, OfNothingIsZeroWithoutALaunch, 100, const HistogramCase& c) {
  histogram_of_nothing_is_zero_without_a_launch(histogram, c);
}

TEST(HistogramLaws, AreAllTestsHere) { expect_every_law_is_a_test("Histogram", histogram_laws()); }

}  // namespace
}  // namespace lockstep::properties
