// The histogram of more elements than 31 bits count; a minute a case on the simulated GPU, so that
// it runs there in the nightly configuration alone.
#include "properties/histogram.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool registered =
    register_laws("HugeHistogram", huge_histogram_laws(), Histogram(kernels::histogram));

}  // namespace
}  // namespace lockstep::properties
