// Exchange of registers within a warp, and collective operations built on it.
//
// The thread's number in its block is t = x + y * blockDim.x + z * blockDim.x * blockDim.y; its
// lane is t mod 32 and its warp t / 32, in blocks of one, two and three dimensions alike. Element i
// of an array belongs to thread i mod threads of block i / threads, threads being the block's size.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

enum class ShuffleOp : std::uint8_t {
  kIndex,  // __shfl_sync: the operand is the source lane, modulo width, within the caller's segment
  kUp,     // __shfl_up_sync: the operand is subtracted
  kDown,   // __shfl_down_sync: the operand is added
  kXor,    // __shfl_xor_sync: the operand is a lane mask
};

struct WarpShape {
  dim3 block = dim3(32);  // 1 ... 1024 threads, at most 64 along z; the last warp may be partial
  unsigned blocks = 1;    // 1 or more
};

// Every thread of the grid: y[i] = shuffle(x[i], operand[i], width) among the lanes in `members`
// that exist in its warp; the others do not write their y. A segment is `width` lanes, 1, 2, 4, 8,
// 16 or 32. With `divergent` the members reach the exchange along two branches, even lanes on one
// and odd lanes on the other, each with a member mask of its own: a lane then exchanges with lanes
// of its own parity only. A source lane that is not a member gives an undefined value: the caller
// must not select one. T: int, unsigned, long long, float, double, __half. x, operand, y: blocks *
// threads elements of device memory, aligned to their types; y overlaps neither. Errors:
// cudaErrorInvalidValue for arguments outside these, otherwise the error that CUDA returned.
template <class T>
LaunchStatus shuffle(ShuffleOp op, const T* x, const int* operand, T* y, int width,
                     std::uint32_t members, bool divergent, const WarpShape& shape,
                     cudaStream_t stream = nullptr);

// Stores the lane and the warp that every thread observes, two words per thread: lane, then warp.
// Shape and arrays as above.
LaunchStatus lane_and_warp(std::uint32_t* y, const WarpShape& shape, cudaStream_t stream = nullptr);

// Each over segments of `width` lanes, every lane a member; the block's size is a multiple of
// `width`.
//
// Rounding chain, so that every device has the same bits: each addition rounds once to nearest in
// T, subnormals kept. The sums add at distances width / 2, width / 4, ..., 1: a lane adds the
// partial sum of the lane at that distance; the scans add at distances 1, 2, 4, ... below width, in
// each lane that has a lane at that distance below it. The bits of a NaN are unspecified.
enum class WarpCollective : std::uint8_t {
  kBroadcast,  // lane `root` of the segment to all
  // Sum of the segment in all lanes, by xor exchanges; the tree of depth log2(width) is the same in
  // all lanes.
  kButterflySum,
  kTreeSum,  // sum of the segment in its first lane, by shifts down; the other lanes store +0
  // y[j] = x[0] + ... + x[j], by shifts up, log2(width) steps (Hillis and Steele, CACM 29, 1986)
  kInclusiveScan,
  kExclusiveScan,  // y[j] = x[0] + ... + x[j - 1], y[0] = 0
};

// T: int, unsigned, long long, float, double, __half; sums of integers are modulo 2^bits. 0 <= root
// < width. Arrays, errors: as shuffle.
template <class T>
LaunchStatus warp_collective(WarpCollective collective, const T* x, T* y, int width, int root,
                             const WarpShape& shape, cudaStream_t stream = nullptr);

// Whether the launchers would accept this shape and these arrays, of elements of `bytes` each;
// launches nothing. For kernels with the same contract and another implementation.
LaunchStatus check_warp_arrays(const void* x, const void* y, std::size_t bytes, int width,
                               const WarpShape& shape);

// The launchers for elements of type T, and all of the family as one value, so that another kernel
// can replace any of them.
template <class T>
struct ShuffleLaunchersOf {
  decltype(&kernels::shuffle<T>) shuffle = &kernels::shuffle<T>;
  decltype(&kernels::warp_collective<T>) warp_collective = &kernels::warp_collective<T>;
};
struct ShuffleLaunchers : ShuffleLaunchersOf<int>,
                          ShuffleLaunchersOf<unsigned>,
                          ShuffleLaunchersOf<long long>,
                          ShuffleLaunchersOf<float>,
                          ShuffleLaunchersOf<double>,
                          ShuffleLaunchersOf<__half> {
  decltype(&kernels::lane_and_warp) lane_and_warp = &kernels::lane_and_warp;
  template <class T>
  const ShuffleLaunchersOf<T>& of() const {
    return *this;
  }
};

}  // namespace lockstep::kernels
