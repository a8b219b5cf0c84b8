// Kernels of the memory spaces under suspicion; see suspect.h.
#pragma once

#include "kernels/memory_spaces.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

// A family in which some launchers are under suspicion and the others are the real ones.
Suspects<const kernels::MemorySpaceLaunchers> memory_space_suspects();

}  // namespace lockstep::known_bad
