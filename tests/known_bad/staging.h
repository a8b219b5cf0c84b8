// Mutants and negative controls of the Staging kernels; see mutant.h.
#pragma once

#include "kernels/staging.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// A family in which one launcher is under suspicion and the others are the real ones.
Mutants<const kernels::StagingLaunchers> staging_mutants();

}  // namespace lockstep::known_bad
