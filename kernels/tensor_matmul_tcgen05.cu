#include "kernels/tensor_matmul_tcgen05.cuh"
#include "kernels/tensor_matmul_tcgen05_ring.cuh"

namespace lockstep::kernels {
namespace {

template <MatrixElement kElement>
cudaError_t launch(TensorMatmulPath path, const TensorMatmulArguments& p, cudaStream_t stream) {
  using namespace by_tcgen05;
  if (path == TensorMatmulPath::kTcgen05Ring)
    return launch_with_roles<Tcgen05, Ringed, kElement>(p, stream);
  if (path == TensorMatmulPath::kTcgen05Pair)
    return launch_with_roles<Tcgen05, Paired, kElement>(p, stream);
  return by_tcgen05::launch<Tcgen05, Plain, kElement>(p, stream);
}

}  // namespace

cudaError_t launch_tcgen05(TensorMatmulPath path, MatrixElement element,
                           const TensorMatmulArguments& p, cudaStream_t stream) {
  switch (element) {
    case MatrixElement::kF16: return launch<MatrixElement::kF16>(path, p, stream);
    case MatrixElement::kBf16: return launch<MatrixElement::kBf16>(path, p, stream);
    case MatrixElement::kTf32: return launch<MatrixElement::kTf32>(path, p, stream);
    case MatrixElement::kF64:
    case MatrixElement::kS8:
    case MatrixElement::kE4m3: break;
  }
  return launch<MatrixElement::kE4m3>(path, p, stream);
}

}  // namespace lockstep::kernels
