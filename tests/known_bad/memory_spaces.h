// Mutants and negative controls of the memory spaces family; see mutant.h.
#pragma once

#include "kernels/memory_spaces.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// Mutants replace some launchers of the family; the other launchers are the real ones.
Mutants<const kernels::MemorySpaceLaunchers> memory_space_mutants();

}  // namespace lockstep::known_bad
