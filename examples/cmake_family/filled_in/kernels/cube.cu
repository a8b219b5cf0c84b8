#include <algorithm>
#include <limits>

#include "kernels/argument_check.h"
#include "kernels/cube.h"

namespace solids::kernels {
using namespace lockstep;
using namespace lockstep::kernels;
namespace {

constexpr const char* kWho = "cube";
constexpr int kMaxBlock = 1024;

__global__ void __launch_bounds__(kMaxBlock)
    compute_cube(const float* __restrict__ x, std::int64_t n, float* __restrict__ y) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = x[i] * x[i] * x[i];
#ifdef PLANTED_BUG
    break;
#endif
  }
}

}  // namespace

LaunchStatus check_cube(const float* x, std::int64_t n, const float* y, const CubeShape& shape) {
  ArgumentCheck check(kWho);
  check.number("n", n, 0, std::numeric_limits<std::int64_t>::max() / sizeof(float));
  check.block(shape.block, kMaxBlock);
  check.number("max_blocks", shape.max_blocks, 1, std::numeric_limits<int>::max());
  if (n == 0) return check.status();
  check.array("x", x, alignof(float));
  check.array("y", y, alignof(float));
  check.apart("x", x, n * sizeof(float), "y", y, n * sizeof(float));
  return check.status();
}

LaunchStatus cube(const float* x, std::int64_t n, float* y, const CubeShape& shape,
                  cudaStream_t stream) {
  if (LaunchStatus status = check_cube(x, n, y, shape); !status.ok() || n == 0) return status;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((n - 1) / shape.block + 1, shape.max_blocks));
  compute_cube<<<blocks, shape.block, 0, stream>>>(x, n, y);
  return launched(kWho, blocks, shape.block);
}

}  // namespace solids::kernels
