#include "kernels/tensor_matmul_wgmma.cuh"

namespace lockstep::kernels {
namespace {

template <MatrixElement kElement>
cudaError_t launch(TensorMatmulPath path, const TensorMatmulArguments& p, cudaStream_t stream) {
  using by_wgmma::Wgmma;
  if (path == TensorMatmulPath::kWgmmaCluster)
    return by_wgmma::launch<Wgmma, by_wgmma::Pair, kElement>(p, stream);
  if (path == TensorMatmulPath::kWgmmaWide)
    return by_wgmma::launch<Wgmma, by_wgmma::Wide, kElement>(p, stream);
  return by_wgmma::launch<Wgmma, by_wgmma::Small, kElement>(p, stream);
}

}  // namespace

cudaError_t launch_wgmma(TensorMatmulPath path, MatrixElement element,
                         const TensorMatmulArguments& p, cudaStream_t stream) {
  switch (element) {
    case MatrixElement::kF16: return launch<MatrixElement::kF16>(path, p, stream);
    case MatrixElement::kBf16: return launch<MatrixElement::kBf16>(path, p, stream);
    case MatrixElement::kTf32:
    case MatrixElement::kF64:
    case MatrixElement::kS8:
    case MatrixElement::kE4m3: break;
  }
  return launch<MatrixElement::kE4m3>(path, p, stream);
}

}  // namespace lockstep::kernels
