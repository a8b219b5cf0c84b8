// Mutants and negative controls of the Stencil kernels; see mutant.h.
#pragma once

#include "kernels/stencil.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

using StencilLauncher = decltype(kernels::stencil_1d);

Mutants<StencilLauncher> stencil_mutants();

}  // namespace lockstep::known_bad
