// The histogram's laws. A law is a statement about every case. It takes the implementation under
// test as an argument, so that a broken or rewritten kernel can replace the real one.
#pragma once

#include <functional>

#include "kernels/histogram.h"
#include "properties/law.h"

namespace lockstep::properties {

// A function with the launcher's signature and contract (kernels/histogram.h).
using Histogram = std::function<decltype(kernels::histogram)>;

// In the order in which mutants are judged.
Laws<Histogram> histogram_laws();
// Laws for periodic elements (memory holds one period), for the counts that a block flushes, and
// for bins that lie far apart. Not for mutants, because these laws process whole arrays to the end.
Laws<Histogram> periodic_histogram_laws();
// The same with more elements than a 32-bit index counts. They take minutes on the simulated GPU.
Laws<Histogram> huge_histogram_laws();

}  // namespace lockstep::properties
