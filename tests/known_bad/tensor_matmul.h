// Mutants and negative controls of the tensor_matmul family; see mutant.h. A list for each way to a
// matrix unit, with a step of that way's kernel replaced; the other ways, and other types than f16,
// are the real ones.
#pragma once

#include "kernels/tensor_matmul.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

using TensorMatmulLauncher = decltype(kernels::tensor_matmul);
using TensorMatmulScaledLauncher = decltype(kernels::tensor_matmul_scaled);

Mutants<TensorMatmulLauncher> tensor_matmul_mma_mutants();
Mutants<TensorMatmulLauncher> tensor_matmul_wgmma_mutants();
Mutants<TensorMatmulLauncher> tensor_matmul_tcgen05_mutants();
Mutants<TensorMatmulScaledLauncher> tensor_matmul_scaled_mutants();

}  // namespace lockstep::known_bad
