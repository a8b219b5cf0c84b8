// Runs every law of properties/histogram.h on the histogram's kernels.
#include "properties/histogram.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("Histogram", histogram_laws(), Histogram(kernels::histogram));
const bool periodic =
    register_laws("Histogram", periodic_histogram_laws(), Histogram(kernels::histogram));

}  // namespace
}  // namespace lockstep::properties
