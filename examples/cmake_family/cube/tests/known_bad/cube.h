// Mutants and negative controls of cube; see mutant.h.
#pragma once

#include "kernels/cube.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

Mutants<decltype(kernels::cube)> cube_mutants();

}  // namespace lockstep::known_bad
