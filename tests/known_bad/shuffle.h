// Mutants and negative controls of the Warp exchanges; see mutant.h.
#pragma once

#include "kernels/shuffle.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// A family in which some launchers are under suspicion and the others are the real ones.
Mutants<const kernels::ShuffleLaunchers> shuffle_mutants();

}  // namespace lockstep::known_bad
