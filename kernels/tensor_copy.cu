#include <cuda.h>

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/tensor_copy.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;
constexpr int kSharedGrain =
    1024;                          // images begin at a multiple of it, where swizzle patterns begin
constexpr int kImageMargin = 128;  // after the copy
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A kernel's arguments besides the map.
struct Work {
  int rank;
  bool im2col;
  TensorReduction reduction;
  std::uint32_t to, image_bytes, copied_bytes;
  std::uint16_t offsets[3];
  const std::int32_t* at;
  std::int64_t count;
  unsigned char* images;
};

// ---- Device code. The instructions exist from compute capability 9.0 on.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// The block's image, in dynamic shared memory that is a grain larger.
__device__ uint4* image_of_block() {
  extern __shared__ uint4 dynamic[];
  const std::uint32_t begin = shared_address(dynamic);
  return dynamic +
         ((begin + kSharedGrain - 1) / kSharedGrain * kSharedGrain - begin) / sizeof(uint4);
}

__device__ void fill_with_background(uint4* image, std::uint32_t bytes) {
  constexpr unsigned kWord = 0x01010101u * kTensorBackground;
  for (std::uint32_t i = threadIdx.x; i < bytes / sizeof(uint4); i += blockDim.x)
    image[i] = make_uint4(kWord, kWord, kWord, kWord);
}

__device__ void copy_pieces(const void* from, void* to, std::uint32_t bytes) {
  for (std::uint32_t i = threadIdx.x; i < bytes / sizeof(uint4); i += blockDim.x)
    static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
}

#define C1 "{%2}"
#define C2 "{%2, %3}"
#define C3 "{%2, %3, %4}"
#define C4 "{%2, %3, %4, %5}"
#define C5 "{%2, %3, %4, %5, %6}"
#define COORDINATES "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
#define OFFSETS "h"(w.offsets[0]), "h"(w.offsets[1]), "h"(w.offsets[2])

// COPY(case, dimensions, coordinates, mode, rest of the instruction) for the tiles of each rank.
#define OF_TILES(COPY)         \
  COPY(1, "1", C1, "tile", "") \
  COPY(2, "2", C2, "tile", "") \
  COPY(3, "3", C3, "tile", "") \
  COPY(4, "4", C4, "tile", "") \
  COPY(5, "5", C5, "tile", "")

__device__ int kind_of(const Work& w) { return w.rank + (w.im2col ? 5 : 0); }

__device__ void load(const CUtensorMap* map, const Work& w, const std::int32_t* at,
                     std::uint32_t to, std::uint32_t barrier) {
#define LOAD(kind, d, coordinates, mode, offsets)                                          \
  case kind:                                                                               \
    asm volatile("cp.async.bulk.tensor." d "d.shared::cluster.global." mode                \
                 ".mbarrier::complete_tx::bytes [%0], [%1, " coordinates "], [%7]" offsets \
                 ";" ::"r"(to),                                                            \
                 "l"(map), COORDINATES, "r"(barrier), OFFSETS                              \
                 : "memory");                                                              \
    break;
  switch (kind_of(w)) {
    OF_TILES(LOAD)
    LOAD(8, "3", C3, "im2col", ", {%8}")
    LOAD(9, "4", C4, "im2col", ", {%8, %9}")
    LOAD(10, "5", C5, "im2col", ", {%8, %9, %10}")
  }
}

// Copies to the same address in each block of `blocks`, and signals the mbarrier at the same
// address there.
__device__ void load_for_all(const CUtensorMap* map, const Work& w, const std::int32_t* at,
                             std::uint32_t to, std::uint32_t barrier, std::uint16_t blocks) {
#define LOAD_FOR_ALL(kind, d, coordinates, mode, offsets)                                   \
  case kind:                                                                                \
    asm volatile("cp.async.bulk.tensor." d "d.shared::cluster.global." mode                 \
                 ".mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, " coordinates \
                 "], [%7]" offsets ", %11;" ::"r"(to),                                      \
                 "l"(map), COORDINATES, "r"(barrier), OFFSETS, "h"(blocks)                  \
                 : "memory");                                                               \
    break;
  switch (kind_of(w)) {
    OF_TILES(LOAD_FOR_ALL)
    LOAD_FOR_ALL(8, "3", C3, "im2col", ", {%8}")
    LOAD_FOR_ALL(9, "4", C4, "im2col", ", {%8, %9}")
    LOAD_FOR_ALL(10, "5", C5, "im2col", ", {%8, %9, %10}")
  }
}

__device__ void store(const CUtensorMap* map, const Work& w, const std::int32_t* at,
                      std::uint32_t from) {
#define STORE(kind, d, coordinates, mode, offsets)                       \
  case kind:                                                             \
    asm volatile("cp.async.bulk.tensor." d "d.global.shared::cta." mode  \
                 ".bulk_group [%1, " coordinates "], [%0];" ::"r"(from), \
                 "l"(map), COORDINATES                                   \
                 : "memory");                                            \
    break;
  switch (kind_of(w)) {
    OF_TILES(STORE)
    STORE(8, "3", C3, "im2col_no_offs", "")
    STORE(9, "4", C4, "im2col_no_offs", "")
    STORE(10, "5", C5, "im2col_no_offs", "")
  }
}

__device__ void reduce(const CUtensorMap* map, const Work& w, const std::int32_t* at,
                       std::uint32_t from) {
#define REDUCE(kind, d, coordinates, operation)                                     \
  case kind:                                                                        \
    asm volatile("cp.reduce.async.bulk.tensor." d "d.global.shared::cta." operation \
                 ".tile.bulk_group [%1, " coordinates "], [%0];" ::"r"(from),       \
                 "l"(map), COORDINATES                                              \
                 : "memory");                                                       \
    break;
#define REDUCE_TILES(operation)   \
  switch (w.rank) {               \
    REDUCE(1, "1", C1, operation) \
    REDUCE(2, "2", C2, operation) \
    REDUCE(3, "3", C3, operation) \
    REDUCE(4, "4", C4, operation) \
    REDUCE(5, "5", C5, operation) \
  }                               \
  break
  switch (w.reduction) {
    case TensorReduction::kAdd: REDUCE_TILES("add");
    case TensorReduction::kMin: REDUCE_TILES("min");
    case TensorReduction::kMax: REDUCE_TILES("max");
    case TensorReduction::kAnd: REDUCE_TILES("and");
    case TensorReduction::kOr: REDUCE_TILES("or");
    case TensorReduction::kXor: REDUCE_TILES("xor");
  }
}

// Makes the threads' writes to shared memory visible to copies after the next barrier.
__device__ void publish_to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void init(std::uint32_t barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ void wait(std::uint32_t barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, "
        "p;}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

__device__ void wait_for_all_blocks() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

__global__ void __launch_bounds__(kMaxBlock)
    load_each(const __grid_constant__ CUtensorMap map, const Work w) {
  __shared__ std::uint64_t barrier_object;
  const std::uint32_t barrier = shared_address(&barrier_object);
  uint4* const image = image_of_block();
  if (threadIdx.x == 0) init(barrier);
  unsigned parity = 0;
  for (std::int64_t i = blockIdx.x; i < w.count; i += gridDim.x, parity ^= 1) {
    fill_with_background(image, w.image_bytes);
    publish_to_copies();
    __syncthreads();
    if (threadIdx.x == 0) {
      expect(barrier, w.copied_bytes);
      load(&map, w, w.at + 5 * i, shared_address(image) + w.to, barrier);
    }
    wait(barrier, parity);
    // Each thread overwrites the bytes that it has copied with the next background.
    copy_pieces(image, w.images + i * w.image_bytes, w.image_bytes);
  }
}

__global__ void __launch_bounds__(kMaxBlock)
    multicast_each(const __grid_constant__ CUtensorMap map, const Work w) {
  __shared__ std::uint64_t barrier_object;
  const std::uint32_t barrier = shared_address(&barrier_object);
  uint4* const image = image_of_block();
  unsigned rank, blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  if (threadIdx.x == 0) init(barrier);
  unsigned parity = 0;
  for (std::int64_t i = blockIdx.x / blocks; i < w.count; i += gridDim.x / blocks, parity ^= 1) {
    fill_with_background(image, w.image_bytes);
    publish_to_copies();
    __syncthreads();
    if (threadIdx.x == 0) expect(barrier, w.copied_bytes);
    wait_for_all_blocks();  // every block's barrier then expects its bytes, and its memory is free
    if (threadIdx.x == 0 && rank == i % blocks) {
      load_for_all(&map, w, w.at + 5 * i, shared_address(image) + w.to, barrier,
                   static_cast<std::uint16_t>((1u << blocks) - 1));
    }
    wait(barrier, parity);
    copy_pieces(image, w.images + (i * blocks + rank) * w.image_bytes, w.image_bytes);
  }
  wait_for_all_blocks();  // no block exits while another may still copy to it
}

template <bool kReduces>
__global__ void __launch_bounds__(kMaxBlock)
    store_each(const __grid_constant__ CUtensorMap map, const Work w) {
  uint4* const image = image_of_block();
  for (std::int64_t i = blockIdx.x; i < w.count; i += gridDim.x) {
    copy_pieces(w.images + i * w.image_bytes, image, w.image_bytes);
    publish_to_copies();
    __syncthreads();
    if (threadIdx.x == 0) {
      const std::uint32_t from = shared_address(image) + w.to;
      if (kReduces) {
        reduce(&map, w, w.at + 5 * i, from);
      } else {
        store(&map, w, w.at + 5 * i, from);
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();  // the copy must have read the image before the next one overwrites it
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#else

__global__ void load_each(const __grid_constant__ CUtensorMap, const Work) { __trap(); }
__global__ void multicast_each(const __grid_constant__ CUtensorMap, const Work) { __trap(); }
template <bool kReduces>
__global__ void store_each(const __grid_constant__ CUtensorMap, const Work) {
  __trap();
}

#endif

// ---- Properties of legal shapes.

constexpr int kElementBytes[] = {1, 2, 4, 4, 8, 2, 2, 4, 8};
constexpr int kSpan[] = {0, 32, 64, 128};

std::int64_t element_bytes(const TensorShape& s) {
  return kElementBytes[static_cast<int>(s.element)];
}
// Bytes of a step along the innermost dimension.
std::int64_t unit_bytes(const TensorShape& s) {
  if (s.interleave == TensorInterleave::kNone) return element_bytes(s);
  return s.interleave == TensorInterleave::k32 ? 32 : 16;
}
std::int64_t taken(const TensorShape& s, int d) { return (s.box[d] + s.steps[d] - 1) / s.steps[d]; }
std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

std::int64_t row_bytes(const TensorShape& s) {
  if (s.im2col) return s.channels * element_bytes(s);
  return (s.interleave == TensorInterleave::kNone ? s.box[0] : taken(s, 0)) * unit_bytes(s);
}

std::int64_t rows(const TensorShape& s) {
  if (s.im2col) return s.pixels;
  std::int64_t n = 1;
  // With interleaving, the last dimension but one holds the slices of channels. A copy has one
  // slice.
  for (int d = 1; d < s.rank; ++d)
    n *= s.interleave != TensorInterleave::kNone && d == s.rank - 2 ? 1 : taken(s, d);
  return n;
}

// ---- Arguments.

__extension__ using Wide = __int128;

bool is_floating(TensorElement e) { return e >= TensorElement::kF16; }

// Bytes from the tensor's first to the end of its last row, limited to the size of the address
// space.
std::int64_t memory_bytes(const TensorShape& s) {
  Wide bytes = round_up(s.sizes[0] * unit_bytes(s), 16);
  for (int d = 1; d < s.rank; ++d) bytes += static_cast<Wide>(s.sizes[d] - 1) * s.strides[d - 1];
  return static_cast<std::int64_t>(std::min<Wide>(bytes, std::int64_t{1} << 57));
}

void check_tensor(ArgumentCheck& check, const TensorShape& s) {
  check.enumerator("element", s.element, TensorElement::kF64);
  check.enumerator("interleave", s.interleave, TensorInterleave::k32);
  check.enumerator("swizzle", s.swizzle, TensorSwizzle::k128);
  check.enumerator("fill", s.fill, TensorFill::kNaN);
  const bool sliced = s.interleave != TensorInterleave::kNone;
  check.number("rank", s.rank, sliced || s.im2col ? 3 : 1, 5);
  if (!check.ok()) return;
  check.require(!(sliced && s.im2col), "im2col of an interleaved tensor is not here");
  check.require(s.fill == TensorFill::kZeros || is_floating(s.element),
                "integers cannot be filled with NaN; fill them with zeros");
  check.require(s.interleave != TensorInterleave::k32 || s.swizzle == TensorSwizzle::k32,
                "slices of 32 bytes are swizzled by 32 bytes");
  const int grain = s.interleave == TensorInterleave::k32 ? 32 : 16;
  for (int d = 0; d < s.rank; ++d) {
    const std::string n = "[" + std::to_string(d) + "]";
    check.number(("sizes" + n).c_str(), s.sizes[d], 1, std::int64_t{1} << 32);
    check.number(("steps" + n).c_str(), s.steps[d], 1, 8);
  }
  if (!check.ok()) return;
  Wide below = s.sizes[0] * unit_bytes(s);  // bytes of the dimensions so far
  for (int d = 1; d < s.rank; ++d) {
    const std::string name = "strides[" + std::to_string(d - 1) + "]";
    const std::int64_t stride = s.strides[d - 1];
    check.number(name.c_str(), stride, 0, (std::int64_t{1} << 40) - 1);
    check.require(stride % grain == 0, [&] {
      return name + " is " + std::to_string(stride) + ", no multiple of " + std::to_string(grain);
    });
    check.require(stride >= below, [&] {
      return name + " is " + std::to_string(stride) +
             " bytes, less than what the dimensions below take";
    });
    below = static_cast<Wide>(s.sizes[d] - 1) * stride + below;
  }
}

void check_box(ArgumentCheck& check, const TensorShape& s) {
  for (int d = 0; d < s.rank; ++d)
    check.number(("box[" + std::to_string(d) + "]").c_str(), s.box[d], 1, 256);
}

void check_pixels(ArgumentCheck& check, const TensorShape& s) {
  check.number("channels", s.channels, 1, 256);
  check.number("pixels", s.pixels, 1, 1024);
  const int reach = s.rank == 3 ? 32767 : s.rank == 4 ? 127 : 15;
  const int most_offset = s.rank == 3 ? 65535 : s.rank == 4 ? 255 : 31;
  for (int d = 0; d + 2 < s.rank; ++d) {
    const std::string n = "[" + std::to_string(d) + "]";
    check.number(("lower" + n).c_str(), s.lower[d], -reach - 1, reach);
    check.number(("upper" + n).c_str(), s.upper[d], -reach - 1, reach);
    check.number(("offsets" + n).c_str(), s.offsets[d], 0, most_offset);
    check.require(s.sizes[d + 1] + s.upper[d] > s.lower[d],
                  [&] { return "the box of pixels is empty in spatial dimension " + n; });
  }
}

void check_place(ArgumentCheck& check, const TensorShape& s) {
  const std::int64_t inner = (s.im2col ? s.channels : s.box[0]) * element_bytes(s);
  check.require(inner % 16 == 0, [&] {
    return "the box is " + std::to_string(inner) + " bytes wide, no multiple of 16";
  });
  const int span = kSpan[static_cast<int>(s.swizzle)];
  check.require(s.interleave != TensorInterleave::kNone || span == 0 || inner <= span, [&] {
    return "the box is " + std::to_string(inner) + " bytes wide, more than is swizzled";
  });
  check.number("to", s.to, 0, kSharedGrain - 128);
  check.require(s.to % 128 == 0,
                [&] { return "to is " + std::to_string(s.to) + ", no multiple of 128"; });
  check.block(s.block, kMaxBlock);
  check.number("max_blocks", s.max_blocks, 1, std::numeric_limits<int>::max());
  check.require(rows(s) * row_bytes(s) <= kMostTensorImageBytes &&
                    tensor_image_bytes(s) <= kMostTensorImageBytes,
                [&] {
                  return "a copy takes more than " + std::to_string(kMostTensorImageBytes) +
                         " bytes of shared memory";
                });
}

// `images_a_copy`: above 1 for a multicast. `writes_tensor`: the kernel reads the images and writes
// the tensor; otherwise it reads the tensor.
void check_arrays(ArgumentCheck& check, const TensorShape& s, const void* tensor,
                  const std::int32_t* at, std::int64_t count, const void* images, int images_a_copy,
                  bool writes_tensor) {
  const std::int64_t bytes = tensor_image_bytes(s) * images_a_copy;
  check.number("count", count, 0, kMost / bytes);
  if (!check.ok() || count == 0) return;
  check.array("tensor", tensor, s.interleave == TensorInterleave::k32 ? 32 : 16);
  check.array("at", at, alignof(std::int32_t));
  check.array("images", images, alignof(uint4));
  const std::uint64_t tensor_bytes = memory_bytes(s), at_bytes = count * 5 * sizeof *at,
                      image_bytes = count * bytes;
  check.apart("tensor", tensor, tensor_bytes, "images", images, image_bytes);
  if (writes_tensor) check.apart("tensor", tensor, tensor_bytes, "at", at, at_bytes);
}

void check_shape(ArgumentCheck& check, const TensorShape& s) {
  check_tensor(check, s);
  if (!check.ok()) return;
  s.im2col ? check_pixels(check, s) : check_box(check, s);
  if (check.ok()) check_place(check, s);
}

void check_no_corner_outside(ArgumentCheck& check, const TensorShape& s) {
  for (int d = 0; check.ok() && s.im2col && d + 2 < s.rank; ++d) {
    check.require(s.lower[d] >= 0 && s.upper[d] <= 0,
                  "nothing is stored through a box of pixels beyond the tensor");
  }
}

void check_reduction(ArgumentCheck& check, TensorReduction reduction, const TensorShape& s) {
  check.enumerator("reduction", reduction, TensorReduction::kXor);
  check_shape(check, s);
  if (!check.ok()) return;
  check.require(!s.im2col, "there is no reduction with im2col here");
  const bool bitwise = reduction >= TensorReduction::kAnd, wide = s.element >= TensorElement::kF32;
  const bool there = bitwise ? s.element >= TensorElement::kU32 && s.element <= TensorElement::kU64
                     : reduction == TensorReduction::kAdd
                         ? s.element >= TensorElement::kU32 && s.element != TensorElement::kF64
                         : s.element >= TensorElement::kU32 && !wide;
  check.require(there, "there is no such reduction of elements of this type");
}

// ---- Tensor maps.

CUtensorMapDataType type_of(TensorElement e) {
  constexpr CUtensorMapDataType kTypes[] = {
      CU_TENSOR_MAP_DATA_TYPE_UINT8,    CU_TENSOR_MAP_DATA_TYPE_UINT16,
      CU_TENSOR_MAP_DATA_TYPE_UINT32,   CU_TENSOR_MAP_DATA_TYPE_INT32,
      CU_TENSOR_MAP_DATA_TYPE_UINT64,   CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
      CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  };
  return kTypes[static_cast<int>(e)];
}

// The driver's function of that name and type, loaded at run time so that no program links libcuda.
template <class Function>
LaunchStatus find(const char* who, const char* name, Function*& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t e =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  if (e != cudaSuccess) return status_of(e, who, std::string("looking for ") + name);
  if (result != cudaDriverEntryPointSuccess) {
    return status_of(cudaErrorNotSupported, who, std::string("looking for ") + name);
  }
  function = reinterpret_cast<Function*>(found);
  return {};
}

// ---- Launches.

Work work_of(const TensorShape& s, const std::int32_t* at, std::int64_t count,
             unsigned char* images) {
  Work w = {};
  w.rank = s.rank;
  w.im2col = s.im2col;
  w.to = s.to;
  w.image_bytes = static_cast<std::uint32_t>(tensor_image_bytes(s));
  w.copied_bytes = static_cast<std::uint32_t>(tensor_copied_bytes(s));
  for (int d = 0; d < 3; ++d) w.offsets[d] = static_cast<std::uint16_t>(s.offsets[d]);
  w.at = at;
  w.count = count;
  w.images = images;
  return w;
}

// Lets a block have its image. Returns in `bytes` the dynamic shared memory for it.
//
// The limit without opt-in includes a kernel's static shared memory, so this queries CUDA instead
// of comparing with a constant. All calls raise the limit to the same value, so that concurrent
// host threads do not lower it for each other.
template <class Kernel>
LaunchStatus prepare(const char* who, Kernel* kernel, const TensorShape& s, std::size_t& bytes) {
  bytes = tensor_image_bytes(s) + kSharedGrain;
  cudaFuncAttributes attributes;
  if (const cudaError_t e = cudaFuncGetAttributes(&attributes, kernel); e != cudaSuccess)
    return status_of(e, who, "asking for the shared memory that a block may have");
  if (static_cast<std::int64_t>(bytes) <= attributes.maxDynamicSharedSizeBytes) return {};
  int device = 0, most = 0;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess)
    e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (e == cudaSuccess) {
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             most - static_cast<int>(attributes.sharedSizeBytes));
  }
  return status_of(e, who, "raising the shared memory of a block");
}

template <class Kernel>
LaunchStatus launch(const char* who, Kernel* kernel, const TensorShape& s, const void* tensor,
                    const Work& w, cudaStream_t stream) {
  CUtensorMap map;
  std::size_t shared;
  if (LaunchStatus status = make_tensor_map(s, tensor, map); !status.ok()) return status;
  if (LaunchStatus status = prepare(who, kernel, s, shared); !status.ok()) return status;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(w.count, s.max_blocks));
  kernel<<<blocks, s.block, shared, stream>>>(map, w);
  return launched(who, blocks, s.block);
}

}  // namespace

std::int64_t tensor_image_bytes(const TensorShape& s) {
  const int span = kSpan[static_cast<int>(s.swizzle)];
  // A row narrower than the swizzle's span occupies the whole span.
  const std::int64_t pitch = s.interleave == TensorInterleave::kNone
                                 ? std::max<std::int64_t>(row_bytes(s), span)
                                 : row_bytes(s);
  return round_up(s.to + rows(s) * pitch, 128) + kImageMargin;
}

std::int64_t tensor_copied_bytes(const TensorShape& s) { return rows(s) * row_bytes(s); }

std::int64_t tensor_memory_bytes(const TensorShape& s) { return memory_bytes(s); }

LaunchStatus make_tensor_map(const TensorShape& s, const void* tensor, CUtensorMap& map) {
  constexpr const char* kWho = "make_tensor_map";
  cuuint64_t sizes[5], strides[4];
  cuuint32_t box[5], steps[5];
  for (int d = 0; d < 5; ++d) sizes[d] = s.sizes[d], box[d] = s.box[d], steps[d] = s.steps[d];
  for (int d = 0; d < 4; ++d) strides[d] = s.strides[d];
  const auto interleave = static_cast<CUtensorMapInterleave>(s.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(s.swizzle);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(s.fill);
  void* const address = const_cast<void*>(tensor);
  // The driver needs a current context, which a host thread does not have before its first CUDA
  // operation.
  int device = 0;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess) e = cudaSetDevice(device);
  if (e != cudaSuccess) return status_of(e, kWho, "making the device's context current");
  CUresult answer;
  if (s.im2col) {
    decltype(cuTensorMapEncodeIm2col)* encode;
    if (LaunchStatus status = find(kWho, "cuTensorMapEncodeIm2col", encode); !status.ok())
      return status;
    answer = encode(&map, type_of(s.element), s.rank, address, sizes, strides, s.lower, s.upper,
                    s.channels, s.pixels, steps, interleave, swizzle,
                    CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  } else {
    decltype(cuTensorMapEncodeTiled)* encode;
    if (LaunchStatus status = find(kWho, "cuTensorMapEncodeTiled", encode); !status.ok())
      return status;
    answer = encode(&map, type_of(s.element), s.rank, address, sizes, strides, box, steps,
                    interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
  // The driver's error numbers are those of the runtime.
  return status_of(static_cast<cudaError_t>(answer), kWho, "asking the driver for a tensor map");
}

LaunchStatus check_tensor_load(const TensorShape& shape, const unsigned char* tensor,
                               const std::int32_t* at, std::int64_t count,
                               const unsigned char* images) {
  ArgumentCheck check("tensor_load");
  check_shape(check, shape);
  if (check.ok()) check_arrays(check, shape, tensor, at, count, images, 1, false);
  return check.status();
}

LaunchStatus check_tensor_multicast(const TensorShape& shape, int cluster,
                                    const unsigned char* tensor, const std::int32_t* at,
                                    std::int64_t count, const unsigned char* images) {
  ArgumentCheck check("tensor_multicast");
  check.require(cluster == 2 || cluster == 4 || cluster == 8, [&] {
    return "a cluster of " + std::to_string(cluster) + " blocks; it must have 2, 4 or 8";
  });
  check_shape(check, shape);
  if (check.ok()) check_arrays(check, shape, tensor, at, count, images, cluster, false);
  return check.status();
}

LaunchStatus check_tensor_store(const TensorShape& shape, const unsigned char* tensor,
                                const std::int32_t* at, std::int64_t count,
                                const unsigned char* images) {
  ArgumentCheck check("tensor_store");
  check_shape(check, shape);
  check_no_corner_outside(check, shape);
  if (check.ok()) check_arrays(check, shape, tensor, at, count, images, 1, true);
  return check.status();
}

LaunchStatus check_tensor_reduce(TensorReduction reduction, const TensorShape& shape,
                                 const unsigned char* tensor, const std::int32_t* at,
                                 std::int64_t count, const unsigned char* images) {
  ArgumentCheck check("tensor_reduce");
  check_reduction(check, reduction, shape);
  if (check.ok()) check_arrays(check, shape, tensor, at, count, images, 1, true);
  return check.status();
}

LaunchStatus tensor_load(const TensorShape& shape, const unsigned char* tensor,
                         const std::int32_t* at, std::int64_t count, unsigned char* images,
                         cudaStream_t stream) {
  LaunchStatus status = check_tensor_load(shape, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  return launch("tensor_load", load_each, shape, tensor, work_of(shape, at, count, images), stream);
}

LaunchStatus tensor_multicast(const TensorShape& shape, int cluster, const unsigned char* tensor,
                              const std::int32_t* at, std::int64_t count, unsigned char* images,
                              cudaStream_t stream) {
  constexpr const char* kWho = "tensor_multicast";
  LaunchStatus status = check_tensor_multicast(shape, cluster, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  CUtensorMap map;
  cudaLaunchConfig_t config = {};
  if (status = make_tensor_map(shape, tensor, map); !status.ok()) return status;
  if (status = prepare(kWho, multicast_each, shape, config.dynamicSmemBytes); !status.ok())
    return status;
  // Whole clusters, at least one.
  const std::int64_t clusters =
      std::min<std::int64_t>(count, std::max(shape.max_blocks / cluster, 1));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster, attribute.val.clusterDim.y = 1,
  attribute.val.clusterDim.z = 1;
  config.gridDim = dim3(static_cast<unsigned>(clusters * cluster));
  config.blockDim = dim3(shape.block);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return status_of(
      cudaLaunchKernelEx(&config, multicast_each, map, work_of(shape, at, count, images)), kWho,
      "launching " + std::to_string(clusters) + " clusters of " + std::to_string(cluster));
}

LaunchStatus tensor_store(const TensorShape& shape, unsigned char* tensor, const std::int32_t* at,
                          std::int64_t count, const unsigned char* images, cudaStream_t stream) {
  LaunchStatus status = check_tensor_store(shape, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  return launch("tensor_store", store_each<false>, shape, tensor,
                work_of(shape, at, count, const_cast<unsigned char*>(images)), stream);
}

LaunchStatus tensor_reduce(TensorReduction reduction, const TensorShape& shape,
                           unsigned char* tensor, const std::int32_t* at, std::int64_t count,
                           const unsigned char* images, cudaStream_t stream) {
  LaunchStatus status = check_tensor_reduce(reduction, shape, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  Work w = work_of(shape, at, count, const_cast<unsigned char*>(images));
  w.reduction = reduction;
  return launch("tensor_reduce", store_each<true>, shape, tensor, w, stream);
}

}  // namespace lockstep::kernels
