// Warp exchanges under suspicion; see suspect.h.
#pragma once

#include "kernels/shuffle.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

// A family in which some launchers are under suspicion and the others are the real ones.
Suspects<const kernels::ShuffleLaunchers> shuffle_suspects();

}  // namespace lockstep::known_bad
