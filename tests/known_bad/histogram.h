// Histograms under suspicion; see suspect.h.
#pragma once

#include <vector>

#include "kernels/histogram.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using HistogramLauncher = decltype(kernels::histogram);

const std::vector<Suspect<HistogramLauncher>>& histogram_suspects();

}  // namespace lockstep::known_bad
