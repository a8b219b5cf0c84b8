#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/shuffle.h"

namespace lockstep::kernels {
namespace {

constexpr unsigned kMaxThreads = 1024;

__device__ unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ std::int64_t element() {
  return std::int64_t{blockIdx.x} * threads_in_block() + thread_in_block();
}

// The lanes of the caller's warp that are threads of the block.
__device__ unsigned existing_lanes() {
  const unsigned first = thread_in_block() & ~31u, left = threads_in_block() - first;
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

template <class T>
__device__ T exchange(ShuffleOp op, unsigned members, T value, int operand, int width) {
  switch (op) {
    case ShuffleOp::kIndex: return __shfl_sync(members, value, operand, width);
    case ShuffleOp::kUp:
      return __shfl_up_sync(members, value, static_cast<unsigned>(operand), width);
    case ShuffleOp::kDown:
      return __shfl_down_sync(members, value, static_cast<unsigned>(operand), width);
    case ShuffleOp::kXor: return __shfl_xor_sync(members, value, operand, width);
  }
  return value;
}

constexpr unsigned kEvenLanes = 0x55555555u;

template <class T>
__global__ void __launch_bounds__(kMaxThreads)
    shuffle_kernel(ShuffleOp op, const T* x, const int* operand, T* y, int width, unsigned members,
                   bool divergent) {
  const std::int64_t i = element();
  const unsigned lane = thread_in_block() % 32, member_lanes = members & existing_lanes();
  if (!(member_lanes >> lane & 1)) return;
  const T value = x[i];
  const int wanted = operand[i];
  if (!divergent) {
    y[i] = exchange(op, member_lanes, value, wanted, width);
  } else if (lane % 2 == 0) {
    y[i] = exchange(op, member_lanes & kEvenLanes, value, wanted, width);
  } else {
    y[i] = exchange(op, member_lanes & ~kEvenLanes, value, wanted, width);
  }
}

__global__ void __launch_bounds__(kMaxThreads) lane_and_warp_kernel(std::uint32_t* y) {
  const unsigned t = thread_in_block();
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));  // from the hardware, not from the formula
  y[2 * element()] = lane;
  y[2 * element() + 1] = t / 32;
}

template <class T>
__device__ T collective_value(WarpCollective collective, T value, int width, int root) {
  const unsigned members = existing_lanes();
  const int position = static_cast<int>(thread_in_block() % width);
  switch (collective) {
    case WarpCollective::kBroadcast: return __shfl_sync(members, value, root, width);
    case WarpCollective::kButterflySum:
      for (int step = width / 2; step > 0; step /= 2)
        value = value + __shfl_xor_sync(members, value, step, width);
      return value;
    case WarpCollective::kTreeSum:
      for (int step = width / 2; step > 0; step /= 2)
        value = value + __shfl_down_sync(members, value, step, width);
      return position == 0 ? value : T(0);
    case WarpCollective::kInclusiveScan:
    case WarpCollective::kExclusiveScan:
      for (int step = 1; step < width; step *= 2) {
        const T left = __shfl_up_sync(members, value, step, width);
        if (position >= step) value = left + value;
      }
      if (collective == WarpCollective::kInclusiveScan) return value;
      value = __shfl_up_sync(members, value, 1, width);
      return position == 0 ? T(0) : value;
  }
  return value;
}

template <class T>
__global__ void __launch_bounds__(kMaxThreads)
    collective_kernel(WarpCollective collective, const T* x, T* y, int width, int root) {
  const std::int64_t i = element();
  y[i] = collective_value(collective, x[i], width, root);
}

void check_shape(ArgumentCheck& check, const WarpShape& s) {
  const std::uint64_t threads = std::uint64_t{s.block.x} * s.block.y * s.block.z;
  check.require(s.block.x != 0 && s.block.y != 0 && s.block.z != 0 && threads <= kMaxThreads &&
                    s.block.z <= 64,
                [&] {
                  return "the block is " + std::to_string(s.block.x) + " x " +
                         std::to_string(s.block.y) + " x " + std::to_string(s.block.z) +
                         "; it must have 1 ... 1024 threads, at most 64 along z";
                });
  check.number("blocks", s.blocks, 1, std::numeric_limits<int>::max());
}

void check_width(ArgumentCheck& check, int w) {
  check.require(w == 1 || w == 2 || w == 4 || w == 8 || w == 16 || w == 32, [&] {
    return "the width is " + std::to_string(w) + "; it must be 1, 2, 4, 8, 16 or 32";
  });
}

std::uint64_t elements_of(const WarpShape& s) {
  return std::uint64_t{s.block.x} * s.block.y * s.block.z * s.blocks;
}

// Checks x and y, with one element of this size per thread.
void check_arrays(ArgumentCheck& check, const void* x, const void* y, std::size_t bytes,
                  const WarpShape& shape) {
  check.array("x", x, bytes);
  check.array("y", y, bytes);
  check.apart("x", x, elements_of(shape) * bytes, "y", y, elements_of(shape) * bytes);
}

std::string describe(const WarpShape& s) {
  return "launching " + std::to_string(s.blocks) + " blocks of " +
         std::to_string(elements_of(s) / s.blocks) + " threads";
}

}  // namespace

LaunchStatus check_warp_arrays(const void* x, const void* y, std::size_t bytes, int width,
                               const WarpShape& shape) {
  ArgumentCheck check("warp kernel");
  check_shape(check, shape);
  check_width(check, width);
  check_arrays(check, x, y, bytes, shape);
  return check.status();
}

template <class T>
LaunchStatus shuffle(ShuffleOp op, const T* x, const int* operand, T* y, int width,
                     std::uint32_t members, bool divergent, const WarpShape& shape,
                     cudaStream_t stream) {
  constexpr const char* kWho = "shuffle";
  ArgumentCheck check(kWho);
  check_shape(check, shape);
  check.enumerator("operation", op, ShuffleOp::kXor);
  check_width(check, width);
  check_arrays(check, x, y, sizeof(T), shape);
  check.array("operand", operand, alignof(int));
  check.apart("operand", operand, elements_of(shape) * sizeof(int), "y", y,
              elements_of(shape) * sizeof(T));
  if (!check.ok()) return check.status();
  shuffle_kernel<<<shape.blocks, shape.block, 0, stream>>>(op, x, operand, y, width, members,
                                                           divergent);
  return status_of(cudaGetLastError(), kWho, describe(shape));
}

LaunchStatus lane_and_warp(std::uint32_t* y, const WarpShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "lane_and_warp";
  ArgumentCheck check(kWho);
  check_shape(check, shape);
  check.array("y", y, alignof(std::uint32_t));
  if (!check.ok()) return check.status();
  lane_and_warp_kernel<<<shape.blocks, shape.block, 0, stream>>>(y);
  return status_of(cudaGetLastError(), kWho, describe(shape));
}

template <class T>
LaunchStatus warp_collective(WarpCollective collective, const T* x, T* y, int width, int root,
                             const WarpShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "warp_collective";
  ArgumentCheck check(kWho);
  check_shape(check, shape);
  check.enumerator("collective", collective, WarpCollective::kExclusiveScan);
  check_width(check, width);
  check.number("root", root, 0, width - 1);
  if (!check.ok()) return check.status();
  const std::uint64_t threads = std::uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  check.require(threads % width == 0, [&] {
    return "the block has " + std::to_string(threads) + " threads, no multiple of the width " +
           std::to_string(width);
  });
  check_arrays(check, x, y, sizeof(T), shape);
  if (!check.ok()) return check.status();
  collective_kernel<<<shape.blocks, shape.block, 0, stream>>>(collective, x, y, width, root);
  return status_of(cudaGetLastError(), kWho, describe(shape));
}

#define LOCKSTEP_SHUFFLE_TYPE(T)                                                                  \
  template LaunchStatus shuffle<T>(ShuffleOp, const T*, const int*, T*, int, std::uint32_t, bool, \
                                   const WarpShape&, cudaStream_t);                               \
  template LaunchStatus warp_collective<T>(WarpCollective, const T*, T*, int, int,                \
                                           const WarpShape&, cudaStream_t);
LOCKSTEP_SHUFFLE_TYPE(int)
LOCKSTEP_SHUFFLE_TYPE(unsigned)
LOCKSTEP_SHUFFLE_TYPE(long long)
LOCKSTEP_SHUFFLE_TYPE(float)
LOCKSTEP_SHUFFLE_TYPE(double)
LOCKSTEP_SHUFFLE_TYPE(__half)
#undef LOCKSTEP_SHUFFLE_TYPE

}  // namespace lockstep::kernels
