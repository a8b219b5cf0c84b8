// Histograms under suspicion; see suspect.h.
#pragma once

#include "kernels/histogram.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using HistogramLauncher = decltype(kernels::histogram);

Suspects<HistogramLauncher> histogram_suspects();

}  // namespace lockstep::known_bad
