// The laws of the product on matrix units. A law is a sentence about every case; it takes the
// implementation that it judges, so that a broken or a rewritten kernel can stand in the place of
// the real one.
//
// The same laws for each way to a matrix unit, a list each, because a device may have one and lack
// the other.
#pragma once

#include <functional>

#include "kernels/tensor_matmul.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/tensor_matmul.h).
using TensorMatmul = std::function<decltype(kernels::tensor_matmul)>;

// Which paths there are, on whatever device.
Laws<TensorMatmul> tensor_matmul_path_laws();

// In the order in which a mutant meets them.
Laws<TensorMatmul> tensor_matmul_wmma_laws();  // f16
Laws<TensorMatmul> tensor_matmul_mma_laws();   // f16, bf16, tf32, f64, s8; compute capability 8.0
Laws<TensorMatmul> tensor_matmul_fp8_laws();   // e4m3 by mma; compute capability 8.9
Laws<TensorMatmul>
tensor_matmul_wgmma_laws();  // f16, bf16, e4m3, all shapes of tiles; compute capability 9.0 alone
Laws<TensorMatmul>
tensor_matmul_tcgen05_laws();  // f16, bf16, tf32, e4m3; compute capability 10.0 and 10.3 alone

}  // namespace lockstep::properties
