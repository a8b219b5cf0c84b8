// The laws of the product on matrix units. A law is a statement about every case. It takes the
// implementation under test as an argument, so that a broken or rewritten kernel can replace the
// real one.
//
// The laws are the same for each instruction set of matrix units. Each has a separate list, because
// a device may support one and not the other.
#pragma once

#include <functional>

#include "kernels/tensor_matmul.h"
#include "properties/law.h"

namespace lockstep::properties {

// A function with the launcher's signature and contract (kernels/tensor_matmul.h).
using TensorMatmul = std::function<decltype(kernels::tensor_matmul)>;

// Which paths exist, on any device.
Laws<TensorMatmul> tensor_matmul_path_laws();

// In the order in which mutants are judged.
Laws<TensorMatmul> tensor_matmul_wmma_laws();  // f16
Laws<TensorMatmul> tensor_matmul_mma_laws();   // f16, bf16, tf32, f64, s8; compute capability 8.0
Laws<TensorMatmul> tensor_matmul_fp8_laws();   // e4m3 by mma; compute capability 8.9
Laws<TensorMatmul>
tensor_matmul_wgmma_laws();  // f16, bf16, e4m3, all shapes of tiles; compute capability 9.0 alone
Laws<TensorMatmul>
tensor_matmul_tcgen05_laws();  // f16, bf16, tf32, e4m3; compute capability 10.0 and 10.3 alone

}  // namespace lockstep::properties
