// Mutants and negative controls of the histogram family; see mutant.h.
#pragma once

#include "kernels/histogram.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

using HistogramLauncher = decltype(kernels::histogram);

Mutants<HistogramLauncher> histogram_mutants();

}  // namespace lockstep::known_bad
