// Mutants and negative controls of the matmul family; see mutant.h.
#pragma once

#include "kernels/matmul.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

using MatmulLauncher = decltype(kernels::matmul);

Mutants<MatmulLauncher> matmul_mutants();

}  // namespace lockstep::known_bad
