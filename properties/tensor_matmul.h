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

// The paths and elements of the laws whose cases are a list.
enum class Listed {
  kAll,        // all of the instruction set
  kOfMutants,  // those that mutants replace (tests/known_bad): f16, and of wgmma the plain path
};

// Which paths exist, on any device.
Laws<TensorMatmul> tensor_matmul_path_laws();

// In the order in which mutants are judged.

// f16.
Laws<TensorMatmul> tensor_matmul_wmma_laws();
// f16, bf16, tf32, f64, s8; compute capability 8.0.
Laws<TensorMatmul> tensor_matmul_mma_laws(Listed listed = Listed::kAll);
// e4m3 by mma; compute capability 8.9.
Laws<TensorMatmul> tensor_matmul_fp8_laws();
// f16, bf16, e4m3, all shapes of tiles; compute capability 9.0 alone.
Laws<TensorMatmul> tensor_matmul_wgmma_laws(Listed listed = Listed::kAll);
// f16, bf16, tf32, e4m3; compute capability 10.0 and 10.3 alone.
Laws<TensorMatmul> tensor_matmul_tcgen05_laws(Listed listed = Listed::kAll);

}  // namespace lockstep::properties
