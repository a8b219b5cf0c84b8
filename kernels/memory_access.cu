#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/memory_access.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;
constexpr int kConstantBytes = 65536;
constexpr std::int64_t kMostElements =
    32 * std::int64_t{0x7fffffff};  // a grid of blocks of 32 threads with one element each

__constant__ uint4 constant_data[kConstantBytes / sizeof(uint4)];

template <int kBytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using Type = unsigned char;
};
template <>
struct ElementOf<2> {
  using Type = unsigned short;
};
template <>
struct ElementOf<4> {
  using Type = unsigned;
};
template <>
struct ElementOf<8> {
  using Type = uint2;
};
template <>
struct ElementOf<16> {
  using Type = uint4;
};

template <class T>
constexpr int kItems = access_items(sizeof(T));

template <LoadPath kPath, class T>
__device__ T load(const T* x, std::int64_t i) {
  if constexpr (kPath == LoadPath::kCa) return __ldca(x + i);
  if constexpr (kPath == LoadPath::kCg) return __ldcg(x + i);
  if constexpr (kPath == LoadPath::kReadOnly) return __ldg(x + i);
  if constexpr (kPath == LoadPath::kConstant) return reinterpret_cast<const T*>(constant_data)[i];
  return x[i];
}

__device__ std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

__device__ std::int64_t index_of(const AccessPattern& p, std::int64_t t, std::int64_t count) {
  switch (p.kind) {
    case PatternKind::kConsecutive: return t + p.offset;
    case PatternKind::kPermuted: return p.offset + (t & ~std::int64_t{31}) + ((p.factor * t) & 31);
    case PatternKind::kOneAddress: return p.offset;
    case PatternKind::kStrided: return p.factor * t + p.offset;
    case PatternKind::kRandom:
      return static_cast<std::int64_t>(mixed((static_cast<std::uint64_t>(p.factor) << 32) + t) %
                                       count);
  }
  return 0;
}

__device__ bool takes_part(const AccessPattern& p, std::int64_t t, std::int64_t n) {
  return t < n && t % 32 < p.lanes;
}

// Moves the elements t of one thread: value(t) = read(t), then write(t, value).
template <class T, class Read, class Write>
__device__ void move_elements(const AccessPattern& pattern, std::int64_t n, Read read,
                              Write write) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kItems<T> * blockDim.x) + threadIdx.x;
  T value[kItems<T>] = {};
#pragma unroll
  for (int k = 0; k < kItems<T>; ++k) {
    const std::int64_t t = first + k * blockDim.x;
    if (takes_part(pattern, t, n)) value[k] = read(t);
  }
#pragma unroll
  for (int k = 0; k < kItems<T>; ++k) {
    const std::int64_t t = first + k * blockDim.x;
    if (takes_part(pattern, t, n)) write(t, value[k]);
  }
}

// Whether all threads of this block have all their elements, and these are adjacent. Only an
// address is then left to compute, which determines the speed for elements of one byte.
template <class T>
__device__ bool is_plain_copy(const AccessPattern& p, std::int64_t n) {
  return p.kind == PatternKind::kConsecutive && p.lanes == 32 &&
         (std::int64_t{blockIdx.x} + 1) * (kItems<T> * blockDim.x) <= n;
}

template <class T, class Read>
__device__ void copy_elements(T* y, Read read) {
  T value[kItems<T>];
#pragma unroll
  for (int k = 0; k < kItems<T>; ++k) value[k] = read(k * blockDim.x);
#pragma unroll
  for (int k = 0; k < kItems<T>; ++k) y[k * blockDim.x] = value[k];
}

// No __restrict__, and no const beyond the pointer: the compiler must not replace one load path by
// another.
template <LoadPath kPath, class T>
__global__ void __launch_bounds__(kMaxBlock)
    gather_kernel(AccessPattern pattern, const T* x, std::int64_t x_count, T* y, std::int64_t n) {
  if (is_plain_copy<T>(pattern, n)) {
    const std::int64_t first = std::int64_t{blockIdx.x} * (kItems<T> * blockDim.x) + threadIdx.x;
    copy_elements(y + first, [&](int at) { return load<kPath>(x, first + pattern.offset + at); });
  } else {
    move_elements<T>(
        pattern, n, [&](std::int64_t t) { return load<kPath>(x, index_of(pattern, t, x_count)); },
        [&](std::int64_t t, T value) { y[t] = value; });
  }
}

template <class T>
__global__ void __launch_bounds__(kMaxBlock)
    scatter_kernel(AccessPattern pattern, const T* x, T* y, std::int64_t n) {
  move_elements<T>(
      pattern, n, [&](std::int64_t t) { return x[t]; },
      [&](std::int64_t t, T value) { y[index_of(pattern, t, 1)] = value; });
}

// The most elements of an array.
constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max() / 16;

// The largest index that the first n threads use; n >= 1. -1 if it exceeds every array.
std::int64_t last_index(const AccessPattern& p, std::int64_t n) {
  constexpr std::int64_t kMost = kLongest;
  switch (p.kind) {
    case PatternKind::kConsecutive: return p.offset > kMost - n ? -1 : p.offset + n - 1;
    case PatternKind::kPermuted:
      return p.offset > kMost - n
                 ? -1
                 : p.offset +
                       ((n - 1) | 31);  // the last group may be partial, but its elements are not
    case PatternKind::kOneAddress: return p.offset;
    case PatternKind::kStrided:
      if (n == 1) return p.offset;  // whatever the stride
      return p.factor > (kMost - p.offset) / (n - 1) ? -1 : p.factor * (n - 1) + p.offset;
    case PatternKind::kRandom: return 0;
  }
  return -1;
}

// Checks a pattern on an array of `count` elements.
void check_pattern(ArgumentCheck& check, const AccessPattern& p, std::int64_t n, std::int64_t count,
                   const char* array) {
  check.enumerator("pattern", p.kind, PatternKind::kRandom);
  check.number("offset", p.offset, 0, std::numeric_limits<std::int64_t>::max());
  check.number("lanes", p.lanes, 1, 32);
  check.require(p.kind != PatternKind::kPermuted || p.factor % 2 != 0, [&] {
    return "the factor is " + std::to_string(p.factor) + "; a permutation needs an odd one";
  });
  if (p.kind == PatternKind::kStrided)
    check.number("stride", p.factor, 1, std::numeric_limits<std::int64_t>::max());
  if (!check.ok() || n == 0) return;
  const std::int64_t last = last_index(p, n);
  check.require(last >= 0 && last < count, [&] {
    return "the pattern reaches element " + (last < 0 ? "2^59 or more" : std::to_string(last)) +
           ", but " + array + " has " + std::to_string(count);
  });
}

void check_arrays(ArgumentCheck& check, int bytes, const void* x, std::int64_t x_count,
                  const void* y, std::int64_t y_count, std::int64_t n, const AccessShape& shape) {
  check.require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, [&] {
    return "the element has " + std::to_string(bytes) + " bytes; it must have 1, 2, 4, 8 or 16";
  });
  check.number("n", n, 0, kMostElements);
  check.number("x_count", x_count, 0, kLongest);
  check.number("y_count", y_count, 0, kLongest);
  check.require(shape.block >= 32 && shape.block <= kMaxBlock && shape.block % 32 == 0, [&] {
    return "the block is " + std::to_string(shape.block) +
           " threads; it must be a multiple of 32 up to 1024";
  });
  if (!check.ok() || n == 0) return;
  check.array("x", x, bytes);
  check.array("y", y, bytes);
  check.apart("x", x, x_count * bytes, "y", y, y_count * bytes);
}

unsigned blocks_for(std::int64_t n, int element_bytes, int block) {
  return static_cast<unsigned>((n - 1) / (access_items(element_bytes) * block) + 1);
}

template <class T>
void launch_gather(LoadPath path, const AccessPattern& pattern, const void* x, std::int64_t x_count,
                   void* y, std::int64_t n, unsigned blocks, int block, cudaStream_t stream) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  switch (path) {
    case LoadPath::kDefault:
      gather_kernel<LoadPath::kDefault>
          <<<blocks, block, 0, stream>>>(pattern, from, x_count, to, n);
      break;
    case LoadPath::kCa:
      gather_kernel<LoadPath::kCa><<<blocks, block, 0, stream>>>(pattern, from, x_count, to, n);
      break;
    case LoadPath::kCg:
      gather_kernel<LoadPath::kCg><<<blocks, block, 0, stream>>>(pattern, from, x_count, to, n);
      break;
    case LoadPath::kReadOnly:
      gather_kernel<LoadPath::kReadOnly>
          <<<blocks, block, 0, stream>>>(pattern, from, x_count, to, n);
      break;
    case LoadPath::kConstant:
      gather_kernel<LoadPath::kConstant>
          <<<blocks, block, 0, stream>>>(pattern, from, x_count, to, n);
      break;
  }
}

// Calls `body` with a null pointer of the type with that size in bytes.
template <class Body>
void with_element(int bytes, Body&& body) {
  switch (bytes) {
    case 1: return body(static_cast<ElementOf<1>::Type*>(nullptr));
    case 2: return body(static_cast<ElementOf<2>::Type*>(nullptr));
    case 4: return body(static_cast<ElementOf<4>::Type*>(nullptr));
    case 8: return body(static_cast<ElementOf<8>::Type*>(nullptr));
    default: return body(static_cast<ElementOf<16>::Type*>(nullptr));
  }
}

}  // namespace

LaunchStatus check_gather(LoadPath path, const AccessPattern& pattern, int element_bytes,
                          const void* x, std::int64_t x_count, const void* y, std::int64_t n,
                          const AccessShape& shape) {
  ArgumentCheck check("gather");
  check_arrays(check, element_bytes, x, x_count, y, n, n, shape);
  check_pattern(check, pattern, n, x_count, "x");
  check.enumerator("load path", path, LoadPath::kConstant);
  check.require(n <= 0 || x_count > 0, "x has no elements");
  if (!check.ok() || path != LoadPath::kConstant) return check.status();
  check.require(x_count <= kConstantBytes / element_bytes, [&] {
    return "x has " + std::to_string(x_count) + " elements, but constant memory holds " +
           std::to_string(kConstantBytes / element_bytes);
  });
  return check.status();
}

LaunchStatus check_scatter(const AccessPattern& pattern, int element_bytes, const void* x,
                           const void* y, std::int64_t y_count, std::int64_t n,
                           const AccessShape& shape) {
  ArgumentCheck check("scatter");
  check_arrays(check, element_bytes, x, n, y, y_count, n, shape);
  check_pattern(check, pattern, n, y_count, "y");
  check.require(
      pattern.kind != PatternKind::kRandom && (pattern.kind != PatternKind::kOneAddress || n <= 1),
      "with this pattern two threads would write one element");
  return check.status();
}

LaunchStatus gather(LoadPath path, const AccessPattern& pattern, int element_bytes, const void* x,
                    std::int64_t x_count, void* y, std::int64_t n, const AccessShape& shape,
                    cudaStream_t stream) {
  constexpr const char* kWho = "gather";
  if (LaunchStatus s = check_gather(path, pattern, element_bytes, x, x_count, y, n, shape);
      !s.ok() || n == 0)
    return s;
  if (path == LoadPath::kConstant) {
    const cudaError_t e = cudaMemcpyToSymbolAsync(constant_data, x, x_count * element_bytes, 0,
                                                  cudaMemcpyDeviceToDevice, stream);
    if (e != cudaSuccess) return status_of(e, kWho, "copying x to constant memory");
  }
  const unsigned blocks = blocks_for(n, element_bytes, shape.block);
  with_element(element_bytes, [&](auto* type) {
    launch_gather<std::remove_pointer_t<decltype(type)>>(path, pattern, x, x_count, y, n, blocks,
                                                         shape.block, stream);
  });
  return launched(kWho, blocks, shape.block);
}

LaunchStatus scatter(const AccessPattern& pattern, int element_bytes, const void* x, void* y,
                     std::int64_t y_count, std::int64_t n, const AccessShape& shape,
                     cudaStream_t stream) {
  constexpr const char* kWho = "scatter";
  if (LaunchStatus s = check_scatter(pattern, element_bytes, x, y, y_count, n, shape);
      !s.ok() || n == 0)
    return s;
  const unsigned blocks = blocks_for(n, element_bytes, shape.block);
  with_element(element_bytes, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    scatter_kernel<<<blocks, shape.block, 0, stream>>>(pattern, static_cast<const T*>(x),
                                                       static_cast<T*>(y), n);
  });
  return launched(kWho, blocks, shape.block);
}

}  // namespace lockstep::kernels
