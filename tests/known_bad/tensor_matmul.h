// Mutants and negative controls of the tensor_matmul family; see mutant.h. One list for each path
// to a matrix unit, with one step of that path's kernel replaced. The real kernels handle the other
// paths, and types other than f16.
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
