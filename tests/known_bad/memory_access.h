// Mutants and negative controls of the memory access family; see mutant.h.
#pragma once

#include "kernels/memory_access.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// Mutants replace one launcher of the family; the other launcher is the real one.
Mutants<const kernels::MemoryAccessLaunchers> memory_access_mutants();

}  // namespace lockstep::known_bad
