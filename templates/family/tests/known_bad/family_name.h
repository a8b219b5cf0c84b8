// Mutants and negative controls of family_name; see mutant.h.
#pragma once

#include "kernels/family_name.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

Mutants<decltype(kernels::family_name)> family_name_mutants();

}  // namespace lockstep::known_bad
