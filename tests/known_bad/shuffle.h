// Warp exchanges under suspicion; see suspect.h.
#pragma once

#include <vector>

#include "kernels/shuffle.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

// A family in which some launchers are under suspicion and the others are the real ones.
const std::vector<Suspect<const kernels::ShuffleLaunchers>>& shuffle_suspects();

}  // namespace lockstep::known_bad
