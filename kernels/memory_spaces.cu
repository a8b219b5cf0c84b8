#include <limits>
#include <string>

#include "kernels/memory_spaces.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;

__constant__ std::uint32_t constant_words[kSymbolWords];
__device__ std::uint32_t device_words[kSymbolWords];
__device__ unsigned long long thread_count;
__managed__ std::uint32_t managed_array[kManagedWords];

__device__ std::int64_t thread_in_grid() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void __launch_bounds__(kMaxBlock) local_rotation_kernel(std::uint32_t* y, std::uint32_t seed, int shift) {
  std::uint32_t a[kLocalWords];  // indexed at run time below, so it has an address and lies in local memory
  const std::int64_t i = thread_in_grid();
  const auto turn = static_cast<unsigned>((i + shift) % kLocalWords);
  for (unsigned k = 0; k < kLocalWords; ++k) {
    a[(k + turn) % kLocalWords] = seed + static_cast<std::uint32_t>(i) * kLocalWords + (k + turn) % kLocalWords;
  }
  __syncthreads();  // all threads of the block hold their arrays at the same time
  for (unsigned j = 0; j < kLocalWords; ++j) y[i * kLocalWords + j] = a[(j + turn) % kLocalWords];
}

__device__ std::uint32_t block_sum(std::uint32_t* words, std::uint32_t own) {
  words[threadIdx.x] = own;
  __syncthreads();
  std::uint32_t sum = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) sum += words[(t + threadIdx.x) % blockDim.x];
  return sum;
}

__global__ void __launch_bounds__(kMaxBlock) static_sum_kernel(const std::uint32_t* x, std::uint32_t* y) {
  __shared__ std::uint32_t words[kMaxBlock];
  const std::int64_t i = thread_in_grid();
  y[i] = block_sum(words, x[i]);
}

// Dynamic shared memory: blockDim.x words.
__global__ void __launch_bounds__(kMaxBlock) dynamic_sum_kernel(const std::uint32_t* x, std::uint32_t* y) {
  extern __shared__ std::uint32_t words[];
  const std::int64_t i = thread_in_grid();
  y[i] = block_sum(words, x[i]);
}

__global__ void __launch_bounds__(kMaxBlock) count_threads_kernel() { atomicAdd(&thread_count, 1ull); }

__global__ void __launch_bounds__(kMaxBlock)
    gather_constant_kernel(const std::uint32_t* index, std::uint32_t* y, std::int64_t n) {
  const std::int64_t i = thread_in_grid();
  if (i < n) y[i] = constant_words[index[i]];
}

__global__ void __launch_bounds__(kMaxBlock)
    gather_device_kernel(const std::uint32_t* index, std::uint32_t* y, std::int64_t n) {
  const std::int64_t i = thread_in_grid();
  if (i < n) y[i] = device_words[index[i]];
}

__global__ void __launch_bounds__(kMaxBlock) increment_kernel(std::int64_t first, std::int64_t count) {
  const std::int64_t i = thread_in_grid();
  if (i < count) device_words[first + i] += 1;
}

__global__ void __launch_bounds__(kMaxBlock) transform_kernel(std::uint32_t* words, std::int64_t count) {
  const std::int64_t i = thread_in_grid();
  if (i < count) words[i] = 3 * words[i] + 1;
}

// What is wrong with the number of threads a block; empty when nothing is.
std::string objection_to_block(int block) {
  if (block >= 1 && block <= kMaxBlock) return "";
  return "the block is " + std::to_string(block) + " threads; it must be 1 ... " + std::to_string(kMaxBlock);
}

std::string objection_to_shape(const SpaceShape& s) {
  if (const std::string why = objection_to_block(s.block); !why.empty()) return why;
  if (s.blocks >= 1 && s.blocks <= unsigned{std::numeric_limits<int>::max()}) return "";
  return "the grid has " + std::to_string(s.blocks) + " blocks; it must have 1 ... 2^31 - 1";
}

std::string objection_to_words(const char* name, const void* p) {
  if (p == nullptr) return std::string(name) + " is null";
  if (reinterpret_cast<std::uintptr_t>(p) % alignof(std::uint32_t) != 0)
    return std::string(name) + " is not aligned to 4 bytes";
  return "";
}

std::string objection_to_range(SymbolSpace space, std::int64_t first, std::int64_t count) {
  if (space > SymbolSpace::kDevice) return "space " + std::to_string(int(space)) + " does not exist";
  if (first >= 0 && count >= 0 && first <= kSymbolWords && count <= kSymbolWords - first) return "";
  return std::to_string(count) + " words from word " + std::to_string(first) + " on leave the array of " +
         std::to_string(kSymbolWords);
}

// Blocks for n > 0 threads; 0 when a grid has not that many.
unsigned blocks_for(std::int64_t n, int block) {
  const std::int64_t blocks = (n - 1) / block + 1;
  return blocks > std::numeric_limits<int>::max() ? 0 : static_cast<unsigned>(blocks);
}

std::string describe(unsigned blocks, int block) {
  return "launching " + std::to_string(blocks) + " blocks of " + std::to_string(block) + " threads";
}

}  // namespace

LaunchStatus local_rotation(std::uint32_t* y, std::uint32_t seed, int shift, const SpaceShape& shape,
                            cudaStream_t stream) {
  constexpr const char* kWho = "local_rotation";
  std::string why = objection_to_shape(shape);
  if (why.empty() && shift < 0) why = "the shift is " + std::to_string(shift) + "; it must be 0 or more";
  if (why.empty()) why = objection_to_words("y", y);
  if (!why.empty()) return refused(kWho, why);
  local_rotation_kernel<<<shape.blocks, shape.block, 0, stream>>>(y, seed, shift);
  return status_of(cudaGetLastError(), kWho, describe(shape.blocks, shape.block));
}

LaunchStatus shared_sum(SharedKind kind, const std::uint32_t* x, std::uint32_t* y, const SpaceShape& shape,
                        cudaStream_t stream) {
  constexpr const char* kWho = "shared_sum";
  std::string why = objection_to_shape(shape);
  if (why.empty() && kind > SharedKind::kDynamic) why = "kind " + std::to_string(int(kind)) + " does not exist";
  if (why.empty()) why = objection_to_words("x", x);
  if (why.empty()) why = objection_to_words("y", y);
  if (!why.empty()) return refused(kWho, why);
  if (kind == SharedKind::kStatic) {
    static_sum_kernel<<<shape.blocks, shape.block, 0, stream>>>(x, y);
  } else {
    dynamic_sum_kernel<<<shape.blocks, shape.block, shape.block * sizeof(std::uint32_t), stream>>>(x, y);
  }
  return status_of(cudaGetLastError(), kWho, describe(shape.blocks, shape.block));
}

LaunchStatus count_threads(const SpaceShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "count_threads";
  if (const std::string why = objection_to_shape(shape); !why.empty()) return refused(kWho, why);
  count_threads_kernel<<<shape.blocks, shape.block, 0, stream>>>();
  return status_of(cudaGetLastError(), kWho, describe(shape.blocks, shape.block));
}

LaunchStatus read_thread_count(std::uint64_t& count) {
  return status_of(cudaMemcpyFromSymbol(&count, thread_count, sizeof count), "read_thread_count",
                   "copying the counter");
}

LaunchStatus write_thread_count(std::uint64_t count) {
  return status_of(cudaMemcpyToSymbol(thread_count, &count, sizeof count), "write_thread_count", "copying the counter");
}

LaunchStatus write_words(SymbolSpace space, std::int64_t first, const std::uint32_t* from, std::int64_t count) {
  constexpr const char* kWho = "write_words";
  if (const std::string why = objection_to_range(space, first, count); !why.empty()) return refused(kWho, why);
  if (count == 0) return {};
  if (const std::string why = objection_to_words("from", from); !why.empty()) return refused(kWho, why);
  const std::size_t bytes = count * sizeof(std::uint32_t), offset = first * sizeof(std::uint32_t);
  const cudaError_t e = space == SymbolSpace::kConstant ? cudaMemcpyToSymbol(constant_words, from, bytes, offset)
                                                        : cudaMemcpyToSymbol(device_words, from, bytes, offset);
  return status_of(e, kWho, "copying to the symbol");
}

LaunchStatus read_words(SymbolSpace space, std::int64_t first, std::uint32_t* to, std::int64_t count) {
  constexpr const char* kWho = "read_words";
  if (const std::string why = objection_to_range(space, first, count); !why.empty()) return refused(kWho, why);
  if (count == 0) return {};
  if (const std::string why = objection_to_words("to", to); !why.empty()) return refused(kWho, why);
  const std::size_t bytes = count * sizeof(std::uint32_t), offset = first * sizeof(std::uint32_t);
  const cudaError_t e = space == SymbolSpace::kConstant ? cudaMemcpyFromSymbol(to, constant_words, bytes, offset)
                                                        : cudaMemcpyFromSymbol(to, device_words, bytes, offset);
  return status_of(e, kWho, "copying from the symbol");
}

LaunchStatus gather_words(SymbolSpace space, const std::uint32_t* index, std::uint32_t* y, std::int64_t n, int block,
                          cudaStream_t stream) {
  constexpr const char* kWho = "gather_words";
  std::string why = objection_to_block(block);
  if (why.empty() && space > SymbolSpace::kDevice) why = "space " + std::to_string(int(space)) + " does not exist";
  if (why.empty() && n < 0) why = "n is " + std::to_string(n) + "; it must be 0 or more";
  if (why.empty() && n > 0) why = objection_to_words("index", index);
  if (why.empty() && n > 0) why = objection_to_words("y", y);
  if (why.empty() && n > 0 && blocks_for(n, block) == 0)
    why = "n is " + std::to_string(n) + ", more than a grid covers";
  if (!why.empty()) return refused(kWho, why);
  if (n == 0) return {};
  const unsigned blocks = blocks_for(n, block);
  if (space == SymbolSpace::kConstant) {
    gather_constant_kernel<<<blocks, block, 0, stream>>>(index, y, n);
  } else {
    gather_device_kernel<<<blocks, block, 0, stream>>>(index, y, n);
  }
  return status_of(cudaGetLastError(), kWho, describe(blocks, block));
}

LaunchStatus increment_words(std::int64_t first, std::int64_t count, int block, cudaStream_t stream) {
  constexpr const char* kWho = "increment_words";
  std::string why = objection_to_block(block);
  if (why.empty()) why = objection_to_range(SymbolSpace::kDevice, first, count);
  if (!why.empty()) return refused(kWho, why);
  if (count == 0) return {};
  const unsigned blocks = blocks_for(count, block);
  increment_kernel<<<blocks, block, 0, stream>>>(first, count);
  return status_of(cudaGetLastError(), kWho, describe(blocks, block));
}

LaunchStatus managed_words(std::uint32_t*& words) {
  constexpr const char* kWho = "managed_words";
  words = nullptr;
  int device = 0, managed = 0;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, device);
  if (e != cudaSuccess) return status_of(e, kWho, "asking whether the device has managed memory");
  if (!managed) return {cudaErrorNotSupported, std::string(kWho) + ": the device has no managed memory"};
  words = managed_array;
  return {};
}

LaunchStatus transform_managed(std::uint32_t* words, std::int64_t count, int block, cudaStream_t stream) {
  constexpr const char* kWho = "transform_managed";
  std::string why = objection_to_block(block);
  if (why.empty() && count < 0) why = "count is " + std::to_string(count) + "; it must be 0 or more";
  if (why.empty() && count > 0) why = objection_to_words("words", words);
  if (why.empty() && count > 0 && blocks_for(count, block) == 0)
    why = "count is " + std::to_string(count) + ", more than a grid covers";
  if (!why.empty()) return refused(kWho, why);
  if (count == 0) return {};
  const unsigned blocks = blocks_for(count, block);
  transform_kernel<<<blocks, block, 0, stream>>>(words, count);
  return status_of(cudaGetLastError(), kWho, describe(blocks, block));
}

}  // namespace lockstep::kernels
