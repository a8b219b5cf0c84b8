// The histogram's laws. A law is a sentence about every case; it takes the implementation that it
// judges, so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <functional>

#include "kernels/histogram.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/histogram.h).
using Histogram = std::function<decltype(kernels::histogram)>;

// In the order in which a mutant meets them.
Laws<Histogram> histogram_laws();
// Laws for periodic elements (memory holds one period), for the counts that a block hands over, and
// for bins that lie far apart. Not for mutants: these take whole arrays and count to the end.
Laws<Histogram> periodic_histogram_laws();
// The same with as many elements as a 32-bit index cannot count; minutes on the simulated GPU.
Laws<Histogram> huge_histogram_laws();

}  // namespace lockstep::properties
