#include "kernels/tensor_matmul_wgmma.cuh"

namespace lockstep::kernels {
namespace {

template <MatrixElement kElement>
cudaError_t launch(bool cluster, const TensorMatmulArguments& p, cudaStream_t stream) {
  using by_wgmma::Wgmma;
  return cluster ? by_wgmma::launch<Wgmma, by_wgmma::Large, kElement>(p, stream)
                 : by_wgmma::launch<Wgmma, by_wgmma::Small, kElement>(p, stream);
}

}  // namespace

cudaError_t launch_wgmma(bool cluster, MatrixElement element, const TensorMatmulArguments& p, cudaStream_t stream) {
  switch (element) {
    case MatrixElement::kF16:
      return launch<MatrixElement::kF16>(cluster, p, stream);
    case MatrixElement::kBf16:
      return launch<MatrixElement::kBf16>(cluster, p, stream);
    case MatrixElement::kTf32:
    case MatrixElement::kF64:
    case MatrixElement::kS8:
    case MatrixElement::kE4m3:
      break;
  }
  return launch<MatrixElement::kE4m3>(cluster, p, stream);
}

}  // namespace lockstep::kernels
