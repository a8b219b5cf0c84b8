// The histogram with more than 2^31 elements. A case takes a minute on the simulated GPU: it runs
// there only in the nightly configuration.
#include "properties/histogram.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool registered =
    register_laws("HugeHistogram", huge_histogram_laws(), Histogram(kernels::histogram));

}  // namespace
}  // namespace lockstep::properties
