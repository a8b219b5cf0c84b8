// The laws of the product with block scale (kernels/tensor_matmul.h, tensor_matmul_scaled).
#pragma once

#include <functional>

#include "kernels/tensor_matmul.h"
#include "properties/law.h"

namespace lockstep::properties {

// A function with the launcher's signature and contract.
using TensorMatmulScaled = std::function<decltype(kernels::tensor_matmul_scaled)>;

// Compute capability 10.0 and 10.3 alone.
Laws<TensorMatmulScaled> tensor_matmul_scaled_laws();

}  // namespace lockstep::properties
