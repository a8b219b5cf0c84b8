// Mutants and negative controls of the Staging kernels; see mutant.h.
#pragma once

#include <vector>

#include "kernels/staging.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// A family in which one launcher is a mutant or a negative control and the others are the real ones.
const std::vector<Mutant<const kernels::StagingLaunchers>>& staging_mutants();

}  // namespace lockstep::known_bad
