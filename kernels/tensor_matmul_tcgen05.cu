#include "kernels/tensor_matmul_tcgen05.cuh"

namespace lockstep::kernels {

cudaError_t launch_tcgen05(TensorMatmulPath, MatrixElement element, const TensorMatmulArguments& p,
                           cudaStream_t stream) {
  using by_tcgen05::launch;
  using by_tcgen05::Plain;
  using by_tcgen05::Tcgen05;
  switch (element) {
    case MatrixElement::kF16:
      return launch<Tcgen05, Plain, MatrixElement::kF16>(p, stream);
    case MatrixElement::kBf16:
      return launch<Tcgen05, Plain, MatrixElement::kBf16>(p, stream);
    case MatrixElement::kTf32:
      return launch<Tcgen05, Plain, MatrixElement::kTf32>(p, stream);
    case MatrixElement::kF64:
    case MatrixElement::kS8:
    case MatrixElement::kE4m3:
      break;
  }
  return launch<Tcgen05, Plain, MatrixElement::kE4m3>(p, stream);
}

}  // namespace lockstep::kernels
