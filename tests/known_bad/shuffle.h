// Mutants and negative controls of the Warp exchanges; see mutant.h.
#pragma once

#include "kernels/shuffle.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// Mutants replace some launchers of the family; the other launchers are the real ones.
Mutants<const kernels::ShuffleLaunchers> shuffle_mutants();

}  // namespace lockstep::known_bad
