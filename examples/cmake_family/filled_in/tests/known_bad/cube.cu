// Cubes with one mistake each, and a negative control, which is right.
#include "tests/known_bad/cube.h"

namespace solids::known_bad {
using namespace lockstep;
using namespace lockstep::known_bad;
namespace {

using kernels::CubeShape;
using kernels::LaunchStatus;
using Index = std::int64_t;

LaunchStatus leaves_out_the_last(const float* x, Index n, float* y, const CubeShape& shape,
                                 cudaStream_t stream) {
  if (LaunchStatus status = kernels::check_cube(x, n, y, shape); !status.ok()) return status;
  return n < 2 ? LaunchStatus{} : kernels::cube(x, n - 1, y, shape, stream);
}

__global__ void round_once(const float* x, Index n, float* y) {
  for (Index i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = static_cast<float>(double{x[i]} * x[i] * x[i]);
}

LaunchStatus in_double(const float* x, Index n, float* y, const CubeShape& shape,
                       cudaStream_t stream) {
  if (LaunchStatus status = kernels::check_cube(x, n, y, shape); !status.ok() || n == 0)
    return status;
  round_once<<<1, shape.block, 0, stream>>>(x, n, y);
  return kernels::status_of(cudaGetLastError(), "known-bad cube", "launching a block");
}

// A negative control: what one thread computes after another is what many compute at once.
LaunchStatus one_thread(const float* x, Index n, float* y, const CubeShape& shape,
                        cudaStream_t stream) {
  if (LaunchStatus status = kernels::check_cube(x, n, y, shape); !status.ok()) return status;
  return kernels::cube(x, n, y, {.block = 1, .max_blocks = 1}, stream);
}

}  // namespace

Mutants<decltype(kernels::cube)> cube_mutants() {
  return {
      {.name = "leaves_out_the_last",
       .change = "one element too few",
       .launch = leaves_out_the_last,
       .rejected_for = {"unwritten"},
       .on_silicon = {"unwritten"}},
      {.name = "in_double",
       .change = "more exact than the chain that the contract declares",
       .launch = in_double,
       .rejected_for = {"mismatch"},
       .on_silicon = {"mismatch"}},
      {.name = "one_thread", .change = "one thread does all the work", .launch = one_thread},
  };
}

}  // namespace solids::known_bad
