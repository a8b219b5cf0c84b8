// Mutants and negative controls of the tensor copies; see mutant.h.
#pragma once

#include "kernels/tensor_copy.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// Mutants replace one launcher of the family; the other launchers are the real ones.
Mutants<const kernels::TensorCopyLaunchers> tensor_copy_mutants();

}  // namespace lockstep::known_bad
