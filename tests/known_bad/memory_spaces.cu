// Mutants that assume a wrong scope or lifetime of a variable, and negative controls that compute
// the same result in another way. Each replaces one launcher of the family. Its argument checks
// call the real launcher with no work.
#include <algorithm>

#include "tests/known_bad/memory_spaces.h"

namespace lockstep::known_bad {
namespace {

using kernels::kLocalWords;
using kernels::kSymbolWords;
using kernels::LaunchStatus;
using kernels::MemorySpaceLaunchers;
using kernels::SharedKind;
using kernels::SpaceShape;
using kernels::SymbolSpace;
using Index = std::int64_t;
using Word = std::uint32_t;

constexpr const char* kWho = "known-bad memory space";

__device__ Word own_words[kSymbolWords];
__constant__ Word own_constant[1024];
__device__ Word scratch[1024];
__device__ unsigned long long own_count;

__device__ Index thread_in_grid() { return Index{blockIdx.x} * blockDim.x + threadIdx.x; }

LaunchStatus launched() { return kernels::status_of(cudaGetLastError(), kWho, "launching"); }

// Refuses the arguments that the real launcher refuses.
bool is_legal(const void* p) {
  return p != nullptr && reinterpret_cast<std::uintptr_t>(p) % alignof(Word) == 0;
}

LaunchStatus check(const void* p, const SpaceShape& shape, int shift = 0) {
  if (!is_legal(p)) return kernels::refused(kWho, "null or misaligned");
  if (shape.block < 1 || shape.block > 1024 || shape.blocks < 1 || shape.blocks > 0x7fffffff)
    return kernels::refused(kWho, "no such shape");
  if (shift < 0) return kernels::refused(kWho, "negative shift");
  return {};
}

// Whether n threads, at least 1, fit a grid of blocks of that size.
bool is_grid(Index n, int block) {
  return block >= 1 && block <= 1024 && n >= 1 && n <= Index{0x7fffffff} * block;
}

bool leaves(Index first, Index count) {
  return first < 0 || count < 0 || first > kSymbolWords || count > kSymbolWords - first;
}

// ---- Local arrays.

__global__ void local_is_shared(Word* y, Word seed, int shift) {
  __shared__ Word a[kLocalWords];
  const Index i = thread_in_grid();
  for (int k = 0; k < kLocalWords; ++k) a[k] = seed + static_cast<Word>(i) * kLocalWords + k;
  __syncthreads();
  for (int j = 0; j < kLocalWords; ++j) y[i * kLocalWords + j] = a[(j + i + shift) % kLocalWords];
}

__global__ void local_not_filled(Word* y, Word seed, int shift) {
  Word a[kLocalWords];
  const Index i = thread_in_grid();
  const auto turn = static_cast<unsigned>((i + shift) % kLocalWords);
  for (unsigned k = 1; k < kLocalWords; ++k)
    a[(k + turn) % kLocalWords] =
        seed + static_cast<Word>(i) * kLocalWords + (k + turn) % kLocalWords;
  for (unsigned j = 0; j < kLocalWords; ++j)
    y[i * kLocalWords + j] = a[(j + turn) % kLocalWords] + 0 * turn;
}

// A negative control without a local array.
__global__ void local_computed(Word* y, Word seed, int shift) {
  const Index i = thread_in_grid();
  for (Index j = 0; j < kLocalWords; ++j)
    y[i * kLocalWords + j] =
        seed + static_cast<Word>(i * kLocalWords + (j + i + shift) % kLocalWords);
}

template <auto kKernel>
LaunchStatus local(Word* y, Word seed, int shift, const SpaceShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check(y, shape, shift); !status.ok()) return status;
  kKernel<<<shape.blocks, shape.block, 0, stream>>>(y, seed, shift);
  return launched();
}

// ---- Shared arrays.

__global__ void shared_without_barrier(const Word* x, Word* y) {
  __shared__ Word words[1024];
  const Index i = thread_in_grid();
  words[threadIdx.x] = x[i];
  Word sum = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) sum += words[t];
  y[i] = sum;
}

// Expects shared memory to keep the contents from an earlier kernel.
__global__ void shared_from_the_last_launch(const Word* x, Word* y) {
  __shared__ Word words[1024];
  const Index i = thread_in_grid();
  if (blockIdx.x == 0) words[threadIdx.x] = x[i];
  __syncthreads();
  Word sum = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) sum += words[t];
  y[i] = sum;
}

// Uses one array for all blocks.
__global__ void shared_by_the_grid(const Word* x, Word* y) {
  const Index i = thread_in_grid();
  scratch[threadIdx.x] = x[i];
  __syncthreads();
  Word sum = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) sum += scratch[t];
  y[i] = sum;
}

__global__ void shared_sum_of_a_warp(const Word* x, Word* y) {
  __shared__ Word words[1024];
  const Index i = thread_in_grid();
  words[threadIdx.x] = x[i];
  __syncthreads();
  Word sum = 0;
  for (unsigned t = 0; t < min(blockDim.x, 32u); ++t) sum += words[t];
  y[i] = sum;
}

// Expects the lanes of a warp to execute in lock-step, as before Volta: volatile accesses without
// barriers. With kBarriers: correct.
template <bool kBarriers>
__global__ void shared_by_a_warp_in_step(const Word* x, Word* y) {
  __shared__ Word words[1024];
  const Index i = thread_in_grid();
  words[threadIdx.x] = x[i];
  __syncthreads();
  if (threadIdx.x < 32) {
    volatile Word* const own = words + threadIdx.x;
    const unsigned lanes = min(blockDim.x, 32u);
    const unsigned mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    Word sum = 0;
    for (unsigned t = threadIdx.x; t < blockDim.x; t += 32) sum += words[t];
    if (kBarriers) __syncwarp(mask);
    own[0] = sum;
    for (unsigned step = 16; step > 0; step /= 2) {
      if (kBarriers) __syncwarp(mask);
      const Word other = threadIdx.x + step < lanes ? own[step] : 0;
      if (kBarriers) __syncwarp(mask);
      if (threadIdx.x < step) own[0] = own[0] + other;
    }
  }
  __syncthreads();
  y[i] = words[0];
}

// A negative control: every thread adds to one word.
__global__ void shared_by_atomics(const Word* x, Word* y) {
  __shared__ Word sum;
  const Index i = thread_in_grid();
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[i]);
  __syncthreads();
  y[i] = sum;
}

template <auto kKernel>
LaunchStatus shared(SharedKind kind, const Word* x, Word* y, const SpaceShape& shape,
                    cudaStream_t stream) {
  if (kind > SharedKind::kDynamic) return kernels::refused(kWho, "no such kind");
  if (!is_legal(x)) return kernels::refused(kWho, "null or misaligned");
  if (LaunchStatus status = check(y, shape); !status.ok()) return status;
  kKernel<<<shape.blocks, shape.block, 0, stream>>>(x, y);
  return launched();
}

// ---- The counter.

__global__ void count_plainly() { own_count = own_count + 1; }
__global__ void count_by_blocks() {
  const int present = __syncthreads_count(1);
  if (threadIdx.x == 0) atomicAdd(&own_count, static_cast<unsigned long long>(present));
}
// Correct until the count exceeds 32 bits.
__global__ void count_in_32_bits() { atomicAdd(reinterpret_cast<unsigned*>(&own_count), 1u); }
__global__ void count_anew(unsigned long long threads) {
  if (thread_in_grid() == 0) own_count = threads;
}

LaunchStatus read_own_count(std::uint64_t& count) {
  return kernels::status_of(cudaMemcpyFromSymbol(&count, own_count, sizeof count), kWho, "copying");
}
LaunchStatus write_own_count(std::uint64_t count) {
  cudaError_t error = cudaMemcpyToSymbol(own_count, &count, sizeof count);
  // The copy may return before its data has arrived.
  if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);
  return kernels::status_of(error, kWho, "copying");
}

template <auto kKernel>
LaunchStatus count(const SpaceShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check(&own_count, shape); !status.ok()) return status;
  kKernel<<<shape.blocks, shape.block, 0, stream>>>();
  return launched();
}

LaunchStatus count_per_launch(const SpaceShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check(&own_count, shape); !status.ok()) return status;
  count_anew<<<shape.blocks, shape.block, 0, stream>>>(std::uint64_t{shape.blocks} * shape.block);
  return launched();
}

// ---- Symbols.

LaunchStatus offset_in_words(SymbolSpace space, Index first, const Word* from, Index count) {
  if (space != SymbolSpace::kDevice || leaves(first, count) || count == 0)
    return kernels::write_words(space, first, from, count);
  return kernels::write_words(space, first / sizeof(Word), from, count);
}

LaunchStatus offset_forgotten(SymbolSpace space, Index first, Word* to, Index count) {
  return leaves(first, count) ? kernels::read_words(space, first, to, count)
                              : kernels::read_words(space, 0, to, count);
}

LaunchStatus writes_half(SymbolSpace space, Index first, const Word* from, Index count) {
  return kernels::write_words(space, first, from,
                              leaves(first, count) || count < 2 ? count : count / 2);
}

__global__ void gather_from_the_wrong_symbol(const Word* index, Word* y, Index n) {
  const Index i = thread_in_grid();
  if (i < n) y[i] = own_words[index[i]];
}
__global__ void gather_past_the_limit(const Word* index, Word* y, Index n) {
  const Index i = thread_in_grid();
  if (i < n) y[i] = own_constant[index[i]];
}

template <auto kKernel>
LaunchStatus gather(SymbolSpace space, const Word* index, Word* y, Index n, int block,
                    cudaStream_t stream) {
  if (space > SymbolSpace::kDevice || !is_grid(n, block) || !is_legal(index) || !is_legal(y))
    return kernels::gather_words(space, index, y, n, block, stream);
  kKernel<<<static_cast<unsigned>((n - 1) / block + 1), block, 0, stream>>>(index, y, n);
  return launched();
}

__global__ void increment_a_copy(Index first, Index count) {
  const Index i = thread_in_grid();
  if (i >= count) return;
  volatile Word copy = own_words[first + i];
  copy = copy + 1;
}

LaunchStatus increment_lost(Index first, Index count, int block, cudaStream_t stream) {
  if (leaves(first, count) || !is_grid(count, block))
    return kernels::increment_words(first, count, block, stream);
  increment_a_copy<<<static_cast<unsigned>((count - 1) / block + 1), block, 0, stream>>>(first,
                                                                                         count);
  return launched();
}

// ---- Managed memory.

__global__ void transform_the_first_block(Word* words, Index count) {
  const Index i = threadIdx.x;
  if (blockIdx.x == 0 && i < count) words[i] = 3 * words[i] + 1;
}

LaunchStatus transform_partly(Word* words, Index count, int block, cudaStream_t stream) {
  if (!is_grid(count, block) || !is_legal(words))
    return kernels::transform_managed(words, count, block, stream);
  transform_the_first_block<<<static_cast<unsigned>((count - 1) / block + 1), block, 0, stream>>>(
      words, count);
  return launched();
}

// The family with one launcher replaced.
template <auto MemorySpaceLaunchers::*kMember, auto kLauncher>
const MemorySpaceLaunchers* with() {
  static const MemorySpaceLaunchers family = [] {
    MemorySpaceLaunchers f;
    f.*kMember = kLauncher;
    return f;
  }();
  return &family;
}

template <auto kCount>
const MemorySpaceLaunchers* with_counter() {
  static const MemorySpaceLaunchers family = {.count_threads = kCount,
                                              .read_thread_count = read_own_count,
                                              .write_thread_count = write_own_count};
  return &family;
}

}  // namespace

Mutants<const MemorySpaceLaunchers> memory_space_mutants() {
  using M = MemorySpaceLaunchers;
  return {
      {"local_is_shared",
       "an array of the block taken for the thread's own",
       with<&M::local_rotation, local<local_is_shared>>(),
       {"finding:race", "mismatch"},
       {"mismatch"}},
      {"local_not_filled",
       "one word of the array never written",
       with<&M::local_rotation, local<local_not_filled>>(),
       {"finding:uninitialised"},
       {"mismatch"},
       "a local array may happen to hold the value of the last launch"},
      {"shared_without_barrier",
       "reads the block's array before it is filled",
       with<&M::shared_sum, shared<shared_without_barrier>>(),
       {"finding:race", "finding:uninitialised"},
       {"mismatch"}},
      {"shared_from_the_last_launch",
       "takes shared memory to outlive a kernel",
       with<&M::shared_sum, shared<shared_from_the_last_launch>>(),
       {"finding:uninitialised"},
       {"mismatch"}},
      {"shared_by_the_grid",
       "one array for all blocks",
       with<&M::shared_sum, shared<shared_by_the_grid>>(),
       {"finding:race"},
       {},
       "whether blocks meet is up to the hardware's schedule"},
      {"shared_sum_of_a_warp",
       "adds the first 32 words of a block only",
       with<&M::shared_sum, shared<shared_sum_of_a_warp>>(),
       {"mismatch"},
       {"mismatch"}},
      {"shared_by_a_warp_in_step",
       "relies on the lanes of a warp to run in step",
       with<&M::shared_sum, shared<shared_by_a_warp_in_step<false>>>(),
       {"mismatch", "nondeterminism"},
       {},
       "lanes that nothing divides have stayed together on every GPU so far"},
      {"count_plainly",
       "a counter of the grid without an atomic",
       with_counter<count<count_plainly>>(),
       {"finding:race", "law"},
       {"law"}},
      {"count_in_32_bits",
       "an atomic on the low half of a counter of 64 bits",
       with_counter<count<count_in_32_bits>>(),
       {"law"},
       {"law"}},
      {"count_per_launch",
       "a counter that starts again with each launch",
       with_counter<count_per_launch>(),
       {"law"},
       {"law"}},
      {"offset_in_words",
       "an offset counted in words where bytes are meant",
       with<&M::write_words, offset_in_words>(),
       {"mismatch"},
       {"mismatch"}},
      {"offset_forgotten",
       "reads from the start of a symbol",
       with<&M::read_words, offset_forgotten>(),
       {"mismatch"},
       {"mismatch"}},
      {"writes_half",
       "copies half of the words",
       with<&M::write_words, writes_half>(),
       {"mismatch"},
       {"mismatch"}},
      {"gather_from_the_wrong_symbol",
       "the host writes one symbol, the kernel reads another",
       with<&M::gather_words, gather<gather_from_the_wrong_symbol>>(),
       {"mismatch"},
       {"mismatch"}},
      {"gather_past_the_limit",
       "reads past the end of a constant array",
       with<&M::gather_words, gather<gather_past_the_limit>>(),
       {"finding:out-of-bounds"},
       {"mismatch"}},
      {"increment_lost",
       "changes a copy",
       with<&M::increment_words, increment_lost>(),
       {"mismatch"},
       {"mismatch"}},
      {"transform_partly",
       "the first block's words only",
       with<&M::transform_managed, transform_partly>(),
       {"mismatch"},
       {"mismatch"}},
      // Negative controls.
      {"local_computed", "no local array at all",
       with<&M::local_rotation, local<local_computed>>()},
      {"shared_by_a_warp_with_barriers", "a warp's lanes add, with a barrier before each step",
       with<&M::shared_sum, shared<shared_by_a_warp_in_step<true>>>()},
      {"shared_by_atomics", "one shared word to which every thread adds",
       with<&M::shared_sum, shared<shared_by_atomics>>()},
      {"count_by_blocks", "one atomic a block", with_counter<count<count_by_blocks>>()},
  };
}

}  // namespace lockstep::known_bad
