// Stencil kernels under suspicion; see suspect.h.
#pragma once

#include "kernels/stencil.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using StencilLauncher = decltype(kernels::stencil_1d);

Suspects<StencilLauncher> stencil_suspects();

}  // namespace lockstep::known_bad
