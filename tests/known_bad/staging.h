// Mutants and negative controls of the Staging kernels; see mutant.h.
#pragma once

#include "kernels/staging.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// Mutants replace some launchers of the family; the other launchers are the real ones.
Mutants<const kernels::StagingLaunchers> staging_mutants();

}  // namespace lockstep::known_bad
