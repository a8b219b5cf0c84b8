// Every kind of variable that a CUDA program can have, in kernels whose output proves its scope and
// its lifetime.
//
//   variable               scope          lifetime      proved by
//   register, local array  thread         kernel        local_rotation: threads fill and read their
//                                                       arrays at run-time indices, and none reads
//                                                       another's
//   __shared__, static     block          kernel        shared_sum: every block adds up the values
//                                                       of its own threads
//   __shared__, dynamic    block          kernel        the same, with an array sized at the launch
//   __device__             grid           application   count_threads: a counter that keeps its
//                                                       value from launch to launch
//   __constant__           grid           application   write_words, gather_words: the host writes,
//                                                       kernels read
//   __managed__            grid and host  application   managed_words: the host accesses it without
//                                                       a copy
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

struct SpaceShape {
  int block = 128;      // threads, 1 ... 1024
  unsigned blocks = 1;  // 1 ... 2^31 - 1
};

inline constexpr int kLocalWords = 32;

// Thread i = block * threads + thread fills a local array with a[k] = seed + i * 32 + k, modulo
// 2^32, and stores it rotated: y[i * 32 + j] = a[(j + i + shift) mod 32]. y: 32 words per thread,
// device memory. shift >= 0.
LaunchStatus local_rotation(std::uint32_t* y, std::uint32_t seed, int shift,
                            const SpaceShape& shape, cudaStream_t stream = nullptr);

enum class SharedKind : std::uint8_t { kStatic, kDynamic };

// y[i] = sum over the threads of i's block of x, modulo 2^32; each thread reads all of its block's
// shared array. x, y: one word per thread.
LaunchStatus shared_sum(SharedKind kind, const std::uint32_t* x, std::uint32_t* y,
                        const SpaceShape& shape, cudaStream_t stream = nullptr);

// Adds the number of threads launched to a __device__ counter, which starts at 0 with the program.
LaunchStatus count_threads(const SpaceShape& shape, cudaStream_t stream = nullptr);
// Read the counter's value (synchronises), and set it.
LaunchStatus read_thread_count(std::uint64_t& count);
LaunchStatus write_thread_count(std::uint64_t count);

// Arrays of words with application lifetime: the whole 64 KB of constant memory, and an array of
// the same size in __device__ memory.
enum class SymbolSpace : std::uint8_t { kConstant, kDevice };
inline constexpr std::int64_t kSymbolWords = 65536 / 4;

// Copy words [first, first + count) between host memory and the symbol (synchronises). A range
// outside 0 ... kSymbolWords is refused.
LaunchStatus write_words(SymbolSpace space, std::int64_t first, const std::uint32_t* from,
                         std::int64_t count);
LaunchStatus read_words(SymbolSpace space, std::int64_t first, std::uint32_t* to,
                        std::int64_t count);

// y[i] = words[index[i]] by kernel, for n threads: one address for a whole warp or 32 different
// ones, according to `index`; every index lies in 0 ... kSymbolWords - 1. index, y: device memory.
LaunchStatus gather_words(SymbolSpace space, const std::uint32_t* index, std::uint32_t* y,
                          std::int64_t n, int block = 128, cudaStream_t stream = nullptr);
// words[i] += 1 by kernel, for the __device__ array: later kernels and copies read the values that
// a kernel writes.
LaunchStatus increment_words(std::int64_t first, std::int64_t count, int block = 128,
                             cudaStream_t stream = nullptr);

inline constexpr std::int64_t kManagedWords = 1024;

// The __managed__ array, which the host may read and write directly while no kernel runs. Sets
// nullptr and returns a message if the device has none.
LaunchStatus managed_words(std::uint32_t*& words);
// words[i] = 3 * words[i] + 1, modulo 2^32, by kernel, for `count` words of managed memory (the
// array above, or cudaMallocManaged's).
LaunchStatus transform_managed(std::uint32_t* words, std::int64_t count, int block = 128,
                               cudaStream_t stream = nullptr);

// The launchers of the family as one value, so that another kernel can replace any of them.
struct MemorySpaceLaunchers {
  decltype(&kernels::local_rotation) local_rotation = &kernels::local_rotation;
  decltype(&kernels::shared_sum) shared_sum = &kernels::shared_sum;
  decltype(&kernels::count_threads) count_threads = &kernels::count_threads;
  decltype(&kernels::read_thread_count) read_thread_count = &kernels::read_thread_count;
  decltype(&kernels::write_thread_count) write_thread_count = &kernels::write_thread_count;
  decltype(&kernels::write_words) write_words = &kernels::write_words;
  decltype(&kernels::read_words) read_words = &kernels::read_words;
  decltype(&kernels::gather_words) gather_words = &kernels::gather_words;
  decltype(&kernels::increment_words) increment_words = &kernels::increment_words;
  decltype(&kernels::managed_words) managed_words = &kernels::managed_words;
  decltype(&kernels::transform_managed) transform_managed = &kernels::transform_managed;
};

}  // namespace lockstep::kernels
