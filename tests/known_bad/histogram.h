// Mutants and negative controls of the histogram family; see mutant.h.
#pragma once

#include <vector>

#include "kernels/histogram.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

using HistogramLauncher = decltype(kernels::histogram);

const std::vector<Mutant<HistogramLauncher>>& histogram_mutants();

}  // namespace lockstep::known_bad
