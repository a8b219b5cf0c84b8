// Stencil kernels under suspicion; see suspect.h.
#pragma once

#include <vector>

#include "kernels/stencil.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using StencilLauncher = decltype(kernels::stencil_1d);

const std::vector<Suspect<StencilLauncher>>& stencil_suspects();

}  // namespace lockstep::known_bad
