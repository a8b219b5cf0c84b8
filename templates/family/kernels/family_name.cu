#include <algorithm>
#include <limits>
#include <string>

#include "kernels/family_name.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;

__global__ void __launch_bounds__(kMaxBlock)
    compute_family_name(const float* __restrict__ x, std::int64_t n, float* __restrict__ y) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    // FILL IN: y[i]. Until then no element is written, and the suite says so.
  }
}

}  // namespace

LaunchStatus check_family_name(const float* x, std::int64_t n, const float* y, const FamilyNameShape& shape) {
  constexpr const char* kWho = "family_name";
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / sizeof(float);
  if (n < 0 || n > kMost) {
    return refused(kWho, "n is " + std::to_string(n) + "; it must be 0 ... " + std::to_string(kMost));
  }
  if (shape.block < 1 || shape.block > kMaxBlock) {
    return refused(kWho, "the block is " + std::to_string(shape.block) + " threads; it must be 1 ... " +
                             std::to_string(kMaxBlock));
  }
  if (shape.max_blocks < 1) {
    return refused(kWho, "max_blocks is " + std::to_string(shape.max_blocks) + "; it must be 1 or more");
  }
  if (n == 0) return {};
  if (x == nullptr || y == nullptr) {
    return refused(kWho, std::string(x == nullptr ? "x" : "y") + " is null, but there are elements");
  }
  const auto from = reinterpret_cast<std::uintptr_t>(x), to = reinterpret_cast<std::uintptr_t>(y);
  if (from % alignof(float) != 0) return refused(kWho, "x is not aligned to 4 bytes");
  if (to % alignof(float) != 0) return refused(kWho, "y is not aligned to 4 bytes");
  const std::uintptr_t bytes = n * sizeof(float);
  if (from < to + bytes && to < from + bytes) {
    return refused(kWho, "x and y overlap; a thread would read what another has already written");
  }
  return {};
}

LaunchStatus family_name(const float* x, std::int64_t n, float* y, const FamilyNameShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_family_name(x, n, y, shape); !status.ok()) return status;
  if (n == 0) return {};
  const unsigned blocks = static_cast<unsigned>(std::min<std::int64_t>((n - 1) / shape.block + 1, shape.max_blocks));
  compute_family_name<<<blocks, shape.block, 0, stream>>>(x, n, y);
  return status_of(cudaGetLastError(), "family_name",
                   "launching " + std::to_string(blocks) + " blocks of " + std::to_string(shape.block) + " threads");
}

}  // namespace lockstep::kernels
