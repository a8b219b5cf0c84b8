// Copies that move elements of 1, 2, 4, 8 or 16 bytes through every load path and in every pattern
// of access. The data must arrive bit for bit; the pattern decides how many lines and sectors a
// warp's request touches.
//
// Gather: y[t] = x[index(t)].  Scatter: y[index(t)] = x[t].  Lane t mod 32 of a warp moves element
// t, together with the other 31 elements of its group, if t < n and t mod 32 < lanes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

enum class LoadPath : std::uint8_t {
  kDefault,   // ld.global
  kCa,        // ld.global.ca: cached at all levels
  kCg,        // ld.global.cg: cached in L2 only
  kReadOnly,  // ld.global.nc through __ldg
  // ld.const: x is copied to constant memory first, so at most 65,536 bytes of it can be read.
  kConstant,
};

enum class PatternKind : std::uint8_t {
  kConsecutive,  // index(t) = t + offset
  // index(t) = offset + 32 floor(t / 32) + (factor t mod 32), factor odd: a permutation within 32
  // elements.
  kPermuted,
  kOneAddress,  // index(t) = offset
  kStrided,     // index(t) = factor t + offset
  // index(t) = mix(2^32 factor + t) mod x_count; gather only. mix is the finaliser of SplitMix64
  // (Steele, Lea, Flood, OOPSLA 2014)
  kRandom,
};

struct AccessPattern {
  PatternKind kind = PatternKind::kConsecutive;
  std::int64_t offset = 0;  // elements, >= 0
  std::int64_t factor = 1;  // kPermuted: odd; kStrided: >= 1; kRandom: a seed
  int lanes = 32;           // 1 ... 32 of each warp take part
};

// The number of elements per thread, a block's width apart, with all loads before the first store:
// 16 bytes of them, at most 8. A warp still requests 32 neighbours at a time; but more requests are
// in flight, which a GPU needs to use all of its bandwidth with small elements
// (docs/journal/timing.md).
constexpr int access_items(int element_bytes) { return element_bytes < 2 ? 8 : 16 / element_bytes; }

struct AccessShape {
  int block = 256;  // threads, a multiple of 32 up to 1024
};

// element_bytes: 1, 2, 4, 8 or 16; x and y are aligned to it, device memory, and do not overlap.
// x_count and y_count are the numbers of elements of x and y; a pattern that would exceed them is
// refused. n: 0 ... 32 * (2^31 - 1); n = 0 launches nothing. The device holds one constant array:
// calls of kConstant on different streams must be ordered by the caller. Errors:
// cudaErrorInvalidValue for arguments outside these, otherwise the error that CUDA returned.
LaunchStatus gather(LoadPath path, const AccessPattern& pattern, int element_bytes, const void* x,
                    std::int64_t x_count, void* y, std::int64_t n, const AccessShape& shape = {},
                    cudaStream_t stream = nullptr);

// kOneAddress with more than one thread and kRandom are refused: two threads would write one
// element.
LaunchStatus scatter(const AccessPattern& pattern, int element_bytes, const void* x, void* y,
                     std::int64_t y_count, std::int64_t n, const AccessShape& shape = {},
                     cudaStream_t stream = nullptr);

// Whether gather would accept these arguments; launches nothing. For kernels with the same contract
// and another implementation. The same for scatter.
LaunchStatus check_gather(LoadPath path, const AccessPattern& pattern, int element_bytes,
                          const void* x, std::int64_t x_count, const void* y, std::int64_t n,
                          const AccessShape& shape);
LaunchStatus check_scatter(const AccessPattern& pattern, int element_bytes, const void* x,
                           const void* y, std::int64_t y_count, std::int64_t n,
                           const AccessShape& shape);

// The launchers of the family as one value, so that another kernel can replace any of them.
struct MemoryAccessLaunchers {
  decltype(&kernels::gather) gather = &kernels::gather;
  decltype(&kernels::scatter) scatter = &kernels::scatter;
};

}  // namespace lockstep::kernels
