// Staging kernels under suspicion; see suspect.h.
#pragma once

#include "kernels/staging.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

// A family in which one launcher is under suspicion and the others are the real ones.
Suspects<const kernels::StagingLaunchers> staging_suspects();

}  // namespace lockstep::known_bad
