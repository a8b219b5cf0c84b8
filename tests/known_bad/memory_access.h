// Memory accesses under suspicion; see suspect.h.
#pragma once

#include "kernels/memory_access.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

// A family in which one launcher is under suspicion and the other is the real one.
Suspects<const kernels::MemoryAccessLaunchers> memory_access_suspects();

}  // namespace lockstep::known_bad
