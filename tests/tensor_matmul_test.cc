// Runs every law of properties/tensor_matmul.h on the product by matrix units, one suite for each
// path to a unit.
#include "properties/tensor_matmul.h"

#include "properties/tensor_matmul_scaled.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const TensorMatmul matmul = kernels::tensor_matmul;
const bool proved = prove("TensorMatmulPaths", tensor_matmul_path_laws(), matmul) &&
                    prove("TensorMatmulByWmma", tensor_matmul_wmma_laws(), matmul) &&
                    prove("TensorMatmulByMma", tensor_matmul_mma_laws(), matmul) &&
                    prove("TensorMatmulOfFp8", tensor_matmul_fp8_laws(), matmul) &&
                    prove("TensorMatmulByWgmma", tensor_matmul_wgmma_laws(), matmul) &&
                    prove("TensorMatmulByTcgen05", tensor_matmul_tcgen05_laws(), matmul) &&
                    prove("TensorMatmulScaled", tensor_matmul_scaled_laws(),
                          TensorMatmulScaled(kernels::tensor_matmul_scaled));

}  // namespace
}  // namespace lockstep::properties
