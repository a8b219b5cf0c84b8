#include "kernels/tensor_matmul_mma.cuh"

namespace lockstep::kernels {

cudaError_t launch_mma(MatrixElement element, const TensorMatmulArguments& p, cudaStream_t stream) {
  using by_mma::launch;
  using by_mma::Mma;
  switch (element) {
    case MatrixElement::kF16: return launch<Mma, MatrixElement::kF16>(p, stream);
    case MatrixElement::kBf16: return launch<Mma, MatrixElement::kBf16>(p, stream);
    case MatrixElement::kTf32: return launch<Mma, MatrixElement::kTf32>(p, stream);
    case MatrixElement::kF64: return launch<Mma, MatrixElement::kF64>(p, stream);
    case MatrixElement::kS8: return launch<Mma, MatrixElement::kS8>(p, stream);
    case MatrixElement::kE4m3: break;
  }
  return launch<Mma, MatrixElement::kE4m3>(p, stream);
}

}  // namespace lockstep::kernels
