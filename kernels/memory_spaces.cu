#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/memory_spaces.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;

__constant__ std::uint32_t constant_words[kSymbolWords];
__device__ std::uint32_t device_words[kSymbolWords];
__device__ unsigned long long thread_count;
__managed__ std::uint32_t managed_array[kManagedWords];

__device__ std::int64_t thread_in_grid() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__global__ void __launch_bounds__(kMaxBlock)
    local_rotation_kernel(std::uint32_t* y, std::uint32_t seed, int shift) {
  std::uint32_t a[kLocalWords];  // indexed at run time below, so it is in local memory
  const std::int64_t i = thread_in_grid();
  const auto turn = static_cast<unsigned>((i + shift) % kLocalWords);
  for (unsigned k = 0; k < kLocalWords; ++k) {
    a[(k + turn) % kLocalWords] =
        seed + static_cast<std::uint32_t>(i) * kLocalWords + (k + turn) % kLocalWords;
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

__global__ void __launch_bounds__(kMaxBlock)
    static_sum_kernel(const std::uint32_t* x, std::uint32_t* y) {
  __shared__ std::uint32_t words[kMaxBlock];
  const std::int64_t i = thread_in_grid();
  y[i] = block_sum(words, x[i]);
}

// Dynamic shared memory: blockDim.x words.
__global__ void __launch_bounds__(kMaxBlock)
    dynamic_sum_kernel(const std::uint32_t* x, std::uint32_t* y) {
  extern __shared__ std::uint32_t words[];
  const std::int64_t i = thread_in_grid();
  y[i] = block_sum(words, x[i]);
}

__global__ void __launch_bounds__(kMaxBlock) count_threads_kernel() {
  atomicAdd(&thread_count, 1ull);
}

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

__global__ void __launch_bounds__(kMaxBlock)
    increment_kernel(std::int64_t first, std::int64_t count) {
  const std::int64_t i = thread_in_grid();
  if (i < count) device_words[first + i] += 1;
}

__global__ void __launch_bounds__(kMaxBlock)
    transform_kernel(std::uint32_t* words, std::int64_t count) {
  const std::int64_t i = thread_in_grid();
  if (i < count) words[i] = 3 * words[i] + 1;
}

void check_shape(ArgumentCheck& check, const SpaceShape& s) {
  check.block(s.block);
  check.number("blocks", s.blocks, 1, std::numeric_limits<int>::max());
}

void check_words(ArgumentCheck& check, const char* name, const void* p) {
  check.array(name, p, alignof(std::uint32_t));
}

void check_range(ArgumentCheck& check, SymbolSpace space, std::int64_t first, std::int64_t count) {
  check.enumerator("space", space, SymbolSpace::kDevice);
  check.require(first >= 0 && count >= 0 && first <= kSymbolWords && count <= kSymbolWords - first,
                [&] {
                  return std::to_string(count) + " words from word " + std::to_string(first) +
                         " on leave the array of " + std::to_string(kSymbolWords);
                });
}

// At most the number of threads of a grid of such blocks.
void check_threads(ArgumentCheck& check, const char* name, std::int64_t n, int block) {
  check.block(block);
  check.number(name, n, 0, std::int64_t{std::numeric_limits<int>::max()} * block);
}

unsigned blocks_for(std::int64_t n, int block) {
  return static_cast<unsigned>((n - 1) / block + 1);
}

}  // namespace

LaunchStatus local_rotation(std::uint32_t* y, std::uint32_t seed, int shift,
                            const SpaceShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "local_rotation";
  ArgumentCheck check(kWho);
  check_shape(check, shape);
  check.number("shift", shift, 0, std::numeric_limits<int>::max());
  check_words(check, "y", y);
  if (!check.ok()) return check.status();
  local_rotation_kernel<<<shape.blocks, shape.block, 0, stream>>>(y, seed, shift);
  return launched(kWho, shape.blocks, shape.block);
}

LaunchStatus shared_sum(SharedKind kind, const std::uint32_t* x, std::uint32_t* y,
                        const SpaceShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "shared_sum";
  ArgumentCheck check(kWho);
  check_shape(check, shape);
  check.enumerator("kind", kind, SharedKind::kDynamic);
  check_words(check, "x", x);
  check_words(check, "y", y);
  if (!check.ok()) return check.status();
  if (kind == SharedKind::kStatic) {
    static_sum_kernel<<<shape.blocks, shape.block, 0, stream>>>(x, y);
  } else {
    dynamic_sum_kernel<<<shape.blocks, shape.block, shape.block * sizeof(std::uint32_t), stream>>>(
        x, y);
  }
  return launched(kWho, shape.blocks, shape.block);
}

LaunchStatus count_threads(const SpaceShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "count_threads";
  ArgumentCheck check(kWho);
  check_shape(check, shape);
  if (!check.ok()) return check.status();
  count_threads_kernel<<<shape.blocks, shape.block, 0, stream>>>();
  return launched(kWho, shape.blocks, shape.block);
}

LaunchStatus read_thread_count(std::uint64_t& count) {
  return status_of(cudaMemcpyFromSymbol(&count, thread_count, sizeof count), "read_thread_count",
                   "copying the counter");
}

// Copies to a symbol and waits for the data. From pageable memory, cudaMemcpyToSymbol may return
// before the data has arrived ("API synchronization behavior", CUDA Runtime API). A stream that
// does not synchronise with the default stream would then read old values.
template <class Symbol>
cudaError_t copy_to(const Symbol& symbol, const void* from, std::size_t bytes,
                    std::size_t offset = 0) {
  const cudaError_t e = cudaMemcpyToSymbol(symbol, from, bytes, offset);
  return e != cudaSuccess ? e : cudaStreamSynchronize(nullptr);
}

LaunchStatus write_thread_count(std::uint64_t count) {
  return status_of(copy_to(thread_count, &count, sizeof count), "write_thread_count",
                   "copying the counter");
}

LaunchStatus write_words(SymbolSpace space, std::int64_t first, const std::uint32_t* from,
                         std::int64_t count) {
  constexpr const char* kWho = "write_words";
  ArgumentCheck check(kWho);
  check_range(check, space, first, count);
  if (count != 0) check_words(check, "from", from);
  if (!check.ok() || count == 0) return check.status();
  const std::size_t bytes = count * sizeof(std::uint32_t), offset = first * sizeof(std::uint32_t);
  const cudaError_t e = space == SymbolSpace::kConstant
                            ? copy_to(constant_words, from, bytes, offset)
                            : copy_to(device_words, from, bytes, offset);
  return status_of(e, kWho, "copying to the symbol");
}

LaunchStatus read_words(SymbolSpace space, std::int64_t first, std::uint32_t* to,
                        std::int64_t count) {
  constexpr const char* kWho = "read_words";
  ArgumentCheck check(kWho);
  check_range(check, space, first, count);
  if (count != 0) check_words(check, "to", to);
  if (!check.ok() || count == 0) return check.status();
  const std::size_t bytes = count * sizeof(std::uint32_t), offset = first * sizeof(std::uint32_t);
  const cudaError_t e = space == SymbolSpace::kConstant
                            ? cudaMemcpyFromSymbol(to, constant_words, bytes, offset)
                            : cudaMemcpyFromSymbol(to, device_words, bytes, offset);
  return status_of(e, kWho, "copying from the symbol");
}

LaunchStatus gather_words(SymbolSpace space, const std::uint32_t* index, std::uint32_t* y,
                          std::int64_t n, int block, cudaStream_t stream) {
  constexpr const char* kWho = "gather_words";
  ArgumentCheck check(kWho);
  check.enumerator("space", space, SymbolSpace::kDevice);
  check_threads(check, "n", n, block);
  if (n != 0) check_words(check, "index", index);
  if (n != 0) check_words(check, "y", y);
  if (!check.ok() || n == 0) return check.status();
  const unsigned blocks = blocks_for(n, block);
  if (space == SymbolSpace::kConstant) {
    gather_constant_kernel<<<blocks, block, 0, stream>>>(index, y, n);
  } else {
    gather_device_kernel<<<blocks, block, 0, stream>>>(index, y, n);
  }
  return launched(kWho, blocks, block);
}

LaunchStatus increment_words(std::int64_t first, std::int64_t count, int block,
                             cudaStream_t stream) {
  constexpr const char* kWho = "increment_words";
  ArgumentCheck check(kWho);
  check.block(block);
  check_range(check, SymbolSpace::kDevice, first, count);
  if (!check.ok() || count == 0) return check.status();
  const unsigned blocks = blocks_for(count, block);
  increment_kernel<<<blocks, block, 0, stream>>>(first, count);
  return launched(kWho, blocks, block);
}

LaunchStatus managed_words(std::uint32_t*& words) {
  constexpr const char* kWho = "managed_words";
  words = nullptr;
  int device = 0, managed = 0;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, device);
  if (e != cudaSuccess) return status_of(e, kWho, "asking whether the device has managed memory");
  if (!managed)
    return {cudaErrorNotSupported, std::string(kWho) + ": the device has no managed memory"};
  words = managed_array;
  return {};
}

LaunchStatus transform_managed(std::uint32_t* words, std::int64_t count, int block,
                               cudaStream_t stream) {
  constexpr const char* kWho = "transform_managed";
  ArgumentCheck check(kWho);
  check_threads(check, "count", count, block);
  if (count != 0) check_words(check, "words", words);
  if (!check.ok() || count == 0) return check.status();
  const unsigned blocks = blocks_for(count, block);
  transform_kernel<<<blocks, block, 0, stream>>>(words, count);
  return launched(kWho, blocks, block);
}

}  // namespace lockstep::kernels
