// Runs the cases of cases.h on a GPU, silicon or simulated.
//
// run generate encode | sizes | nulls | revealing | reductions | faults: prints cases, one per line
// run generate copies COUNT SEED: prints random copies
// run record FILE [FIRST [COUNT]]: prints each line of FILE with the result
// run check FILE: compares the results with those in FILE
// run entries: prints the driver's functions that the runtime returns by name and version
//
// The result of an encoding is its CUresult. The result of a copy is the bytes completed on its
// mbarrier, and a hash of all memory that it could have written. After an error of the device
// `record` ends behind the case's line with exit status 3: start again at the next line.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "simulator/splitmix64.h"
#include "tests/tensor_maps/cases.h"

using namespace lockstep::tensor_maps;

namespace {

constexpr std::uint32_t kWindow =
    72 << 10;  // shared memory that is looked at, from a multiple of 1024
constexpr std::uint32_t kBuffer = 288 << 10;       // global memory around a tensor
constexpr std::uint32_t kMargin = 16 << 10;        // before it
constexpr std::uint32_t kShared = kWindow + 1024;  // dynamic shared memory of a block

struct Arguments {
  int kind = 0;  // Kind
  int rank = 0;
  bool im2col = false;
  int reduction = 0;
  int at[5] = {};
  unsigned short offsets[3] = {};
  unsigned short mask = 0;
  std::uint32_t to = 0;
  std::uint32_t expect = 0;      // bytes
  const uint4* image = nullptr;  // of the window
  uint4* window = nullptr;       // of each block, afterwards
  unsigned long long* state = nullptr;
  const void* map = nullptr;  // null: the kernel's parameter
};

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

#define C1 "{%2}"
#define C2 "{%2, %3}"
#define C3 "{%2, %3, %4}"
#define C4 "{%2, %3, %4, %5}"
#define C5 "{%2, %3, %4, %5, %6}"
#define COORDINATES "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(a.at[4])

__device__ void load(const Arguments& a, const void* map, std::uint32_t to, std::uint32_t barrier) {
#define LOAD(d, c)                                                                        \
  asm volatile("cp.async.bulk.tensor." d                                                  \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " c \
               "], [%7];" ::"r"(to),                                                      \
               "l"(map), COORDINATES, "r"(barrier)                                        \
               : "memory")
#define LOAD_IM2COL(d, c, o)                                                                \
  asm volatile("cp.async.bulk.tensor." d                                                    \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " c \
               "], [%7], " o ";" ::"r"(to),                                                 \
               "l"(map), COORDINATES, "r"(barrier), "h"(a.offsets[0]), "h"(a.offsets[1]),   \
               "h"(a.offsets[2])                                                            \
               : "memory")
  switch (a.rank + (a.im2col ? 5 : 0)) {
    case 1: LOAD("1", C1); break;
    case 2: LOAD("2", C2); break;
    case 3: LOAD("3", C3); break;
    case 4: LOAD("4", C4); break;
    case 5: LOAD("5", C5); break;
    case 8: LOAD_IM2COL("3", C3, "{%8}"); break;
    case 9: LOAD_IM2COL("4", C4, "{%8, %9}"); break;
    case 10: LOAD_IM2COL("5", C5, "{%8, %9, %10}"); break;
  }
}

__device__ void load_multicast(const Arguments& a, const void* map, std::uint32_t to,
                               std::uint32_t barrier) {
#define MULTICAST(d, c)                                                                         \
  asm volatile("cp.async.bulk.tensor." d                                                        \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster " \
               "[%0], [%1, " c "], [%7], %8;" ::"r"(to),                                        \
               "l"(map), COORDINATES, "r"(barrier), "h"(a.mask)                                 \
               : "memory")
#define MULTICAST_IM2COL(d, c, o)                                                                 \
  asm volatile("cp.async.bulk.tensor." d                                                          \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster " \
               "[%0], [%1, " c "], [%7], " o ", %8;" ::"r"(to),                                   \
               "l"(map), COORDINATES, "r"(barrier), "h"(a.mask), "h"(a.offsets[0]),               \
               "h"(a.offsets[1]), "h"(a.offsets[2])                                               \
               : "memory")
  switch (a.rank + (a.im2col ? 5 : 0)) {
    case 1: MULTICAST("1", C1); break;
    case 2: MULTICAST("2", C2); break;
    case 3: MULTICAST("3", C3); break;
    case 4: MULTICAST("4", C4); break;
    case 5: MULTICAST("5", C5); break;
    case 8: MULTICAST_IM2COL("3", C3, "{%9}"); break;
    case 9: MULTICAST_IM2COL("4", C4, "{%9, %10}"); break;
    case 10: MULTICAST_IM2COL("5", C5, "{%9, %10, %11}"); break;
  }
}

__device__ void store(const Arguments& a, const void* map, std::uint32_t from) {
#define STORE(d, c, how)                                                                   \
  asm volatile("cp.async.bulk.tensor." d "d.global.shared::cta." how ".bulk_group [%1, " c \
               "], [%0];" ::"r"(from),                                                     \
               "l"(map), COORDINATES                                                       \
               : "memory")
  switch (a.rank + (a.im2col ? 5 : 0)) {
    case 1: STORE("1", C1, "tile"); break;
    case 2: STORE("2", C2, "tile"); break;
    case 3: STORE("3", C3, "tile"); break;
    case 4: STORE("4", C4, "tile"); break;
    case 5: STORE("5", C5, "tile"); break;
    case 8: STORE("3", C3, "im2col_no_offs"); break;
    case 9: STORE("4", C4, "im2col_no_offs"); break;
    case 10: STORE("5", C5, "im2col_no_offs"); break;
  }
}

__device__ void reduce(const Arguments& a, const void* map, std::uint32_t from) {
#define REDUCE(d, c, op, how)                                                      \
  asm volatile("cp.reduce.async.bulk.tensor." d "d.global.shared::cta." op "." how \
               ".bulk_group [%1, " c "], [%0];" ::"r"(from),                       \
               "l"(map), COORDINATES                                               \
               : "memory")
#define REDUCTIONS(d, c, how)                \
  switch (a.reduction) {                     \
    case 0: REDUCE(d, c, "add", how); break; \
    case 1: REDUCE(d, c, "min", how); break; \
    case 2: REDUCE(d, c, "max", how); break; \
    case 3: REDUCE(d, c, "inc", how); break; \
    case 4: REDUCE(d, c, "dec", how); break; \
    case 5: REDUCE(d, c, "and", how); break; \
    case 6: REDUCE(d, c, "or", how); break;  \
    case 7: REDUCE(d, c, "xor", how); break; \
  }
  switch (a.rank + (a.im2col ? 5 : 0)) {
    case 1: REDUCTIONS("1", C1, "tile"); break;
    case 2: REDUCTIONS("2", C2, "tile"); break;
    case 3: REDUCTIONS("3", C3, "tile"); break;
    case 4: REDUCTIONS("4", C4, "tile"); break;
    case 5: REDUCTIONS("5", C5, "tile"); break;
    case 8: REDUCTIONS("3", C3, "im2col_no_offs"); break;
    case 9: REDUCTIONS("4", C4, "im2col_no_offs"); break;
    case 10: REDUCTIONS("5", C5, "im2col_no_offs"); break;
  }
}

__device__ void finish_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Returns whether the phase completed.
__device__ bool wait(std::uint32_t barrier) {
  unsigned done = 0;
  for (int i = 0; i < 200 && !done; ++i) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 1000; selp.b32 %0, 1, "
        "0, p;}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  return done != 0;
}

__device__ void run_copy(const Arguments& a, const void* map, unsigned rank) {
  extern __shared__ uint4 dynamic[];
  __shared__ alignas(8) unsigned long long barrier_object;
  const std::uint32_t base = shared_address(dynamic), window = (base + 1023) / 1024 * 1024,
                      barrier = shared_address(&barrier_object);
  uint4* const bytes = dynamic + (window - base) / 16;
  for (std::uint32_t i = threadIdx.x; i < kWindow / 16; i += blockDim.x) bytes[i] = a.image[i];
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  const Kind kind = static_cast<Kind>(a.kind);
  const bool loads = kind == Kind::kLoad || kind == Kind::kMulticast || kind == Kind::kReplace;
  const bool expects = loads && (kind == Kind::kMulticast ? (a.mask >> rank & 1) != 0 : rank == 0);
  if (expects && threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(a.expect)
                 : "memory");
  }
  if (a.kind == static_cast<int>(Kind::kMulticast)) {
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
  }
  if (threadIdx.x == 0 && rank == 0) {
    switch (kind) {
      case Kind::kLoad:
      case Kind::kReplace: load(a, map, window + a.to, barrier); break;
      case Kind::kMulticast: load_multicast(a, map, window + a.to, barrier); break;
      case Kind::kStore: store(a, map, window + a.to); break;
      case Kind::kReduce: reduce(a, map, window + a.to); break;
      default: break;
    }
    if (!loads) finish_stores();
  }
  if (expects) {
    if (!wait(barrier) && threadIdx.x == 0) a.state[rank] = 1;
  }
  __syncthreads();
  if (loads) {
    for (std::uint32_t i = threadIdx.x; i < kWindow / 16; i += blockDim.x)
      a.window[rank * (kWindow / 16) + i] = bytes[i];
  }
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

__global__ void copy_kernel(const __grid_constant__ CUtensorMap map, const Arguments a) {
  run_copy(a, &map, 0);
}
__global__ void __cluster_dims__(2)
    multicast_kernel(const __grid_constant__ CUtensorMap map, const Arguments a) {
  run_copy(a, &map, blockIdx.x);
}

// Every field of a map, in the form of tensormap.replace.
struct Fields {
  unsigned long long address = 0, strides[4] = {};
  unsigned rank = 0, box[5] = {}, sizes[5] = {}, steps[5] = {};
  int type = 0, interleave = 0, swizzle = 0, fill = 0;
};

__global__ void replace_kernel(const __grid_constant__ CUtensorMap from, CUtensorMap* to,
                               const Fields f, const Arguments a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ alignas(128) unsigned words[32];
  words[threadIdx.x] = reinterpret_cast<const unsigned*>(&from)[threadIdx.x];
  __syncwarp();
  const std::uint32_t m = shared_address(words);
  if (threadIdx.x == 0) {
#define FIELD(field, type, constraint, value)                                                    \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" ::"r"(m), \
               constraint(value)                                                                 \
               : "memory")
#define ORDINAL(field, type, constraint, n, value)                                    \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " n \
               ", %1;" ::"r"(m),                                                      \
               constraint(value)                                                      \
               : "memory")
#define CONSTANT(field, value, n)                                                              \
  if (value == n)                                                                              \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " #n ";" ::"r"(m) \
               : "memory")
    FIELD("global_address", "b64", "l", f.address);
    FIELD("rank", "b32", "r", f.rank);
#define DIMENSION(n)                                 \
  ORDINAL("box_dim", "b32", "r", #n, f.box[n]);      \
  ORDINAL("global_dim", "b32", "r", #n, f.sizes[n]); \
  ORDINAL("element_stride", "b32", "r", #n, f.steps[n]);
    DIMENSION(0)
    DIMENSION(1)
    DIMENSION(2) DIMENSION(3) DIMENSION(4) ORDINAL("global_stride", "b64", "l", "0", f.strides[0]);
    ORDINAL("global_stride", "b64", "l", "1", f.strides[1]);
    ORDINAL("global_stride", "b64", "l", "2", f.strides[2]);
    ORDINAL("global_stride", "b64", "l", "3", f.strides[3]);
    CONSTANT("elemtype", f.type, 0);
    CONSTANT("elemtype", f.type, 1);
    CONSTANT("elemtype", f.type, 2);
    CONSTANT("elemtype", f.type, 3);
    CONSTANT("elemtype", f.type, 4);
    CONSTANT("elemtype", f.type, 5);
    CONSTANT("elemtype", f.type, 6);
    CONSTANT("elemtype", f.type, 7);
    CONSTANT("elemtype", f.type, 8);
    CONSTANT("elemtype", f.type, 9);
    CONSTANT("elemtype", f.type, 10);
    CONSTANT("elemtype", f.type, 11);
    CONSTANT("elemtype", f.type, 12);
    CONSTANT("interleave_layout", f.interleave, 0);
    CONSTANT("interleave_layout", f.interleave, 1);
    CONSTANT("interleave_layout", f.interleave, 2);
    CONSTANT("swizzle_mode", f.swizzle, 0);
    CONSTANT("swizzle_mode", f.swizzle, 1);
    CONSTANT("swizzle_mode", f.swizzle, 2);
    CONSTANT("swizzle_mode", f.swizzle, 3);
    CONSTANT("fill_mode", f.fill, 0);
    CONSTANT("fill_mode", f.fill, 1);
  }
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%0], [%1], 128;" ::"l"(to),
      "r"(m)
      : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
  run_copy(a, to, 0);
#endif
}

using Tiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                           const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                           CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                           CUtensorMapFloatOOBfill);
using Im2col = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

void* entry_point(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t e =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  if (e != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    std::fprintf(stderr, "%s: %s, %d\n", name, cudaGetErrorString(e), static_cast<int>(found));
    std::exit(1);
  }
  return function;
}

// Arrays have the length for the largest rank: the driver ignores the rest.
template <class T>
std::vector<T> padded(std::vector<T> v, T with) {
  v.resize(8, with);
  return v;
}

CUresult encode(const Case& c, void* address, CUtensorMap* map) {
  // Encoding needs a context, which each process creates.
  static const bool in_a_context = cudaFree(nullptr) == cudaSuccess;
  if (!in_a_context) std::exit(1);
  static const auto tiled = reinterpret_cast<Tiled>(entry_point("cuTensorMapEncodeTiled"));
  static const auto im2col = reinterpret_cast<Im2col>(entry_point("cuTensorMapEncodeIm2col"));
  const auto sizes = padded<std::uint64_t>(c.sizes, 1),
             strides = padded<std::uint64_t>(c.strides, 1 << 20);
  const auto box = padded<std::uint32_t>(c.box, 1), steps = padded<std::uint32_t>(c.steps, 1);
  const auto lower = padded<std::int32_t>(c.lower, 0), upper = padded<std::int32_t>(c.upper, 0);
  const auto unless = [&](std::uint32_t bit, auto* p) { return c.null & bit ? nullptr : p; };
  auto* const to = unless(1, reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(map) + c.map));
  const auto type = static_cast<CUtensorMapDataType>(c.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(c.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(c.swizzle);
  const auto promotion = static_cast<CUtensorMapL2promotion>(c.promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(c.fill);
  const auto* s = reinterpret_cast<const cuuint64_t*>(sizes.data());
  const auto* t = reinterpret_cast<const cuuint64_t*>(strides.data());
  if (c.im2col) {
    return im2col(to, type, c.rank, address, unless(2, s), unless(4, t), unless(8, lower.data()),
                  unless(32, upper.data()), c.channels, c.pixels, unless(16, steps.data()),
                  interleave, swizzle, promotion, fill);
  }
  return tiled(to, type, c.rank, address, unless(2, s), unless(4, t), unless(8, box.data()),
               unless(16, steps.data()), interleave, swizzle, promotion, fill);
}

std::uint64_t hash(const std::vector<std::uint64_t>& words) {
  std::uint64_t h = words.size();
  for (const std::uint64_t w : words) h = lockstep::mixed(h ^ w);
  return h;
}

void fill(std::vector<std::uint64_t>& words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = seed != 0 ? lockstep::next_mixed(seed) : (2 * i + 1) << 32 | 2 * i;
}

#define CHECK(call)                                                   \
  do {                                                                \
    if (const cudaError_t e = (call); e != cudaSuccess) {             \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); \
      std::exit(1);                                                   \
    }                                                                 \
  } while (false)

class Device {
 public:
  Device() {
    CHECK(cudaMalloc(&buffer_, kBuffer));
    CHECK(cudaMalloc(&image_, kWindow));
    CHECK(cudaMalloc(&window_, 2 * kWindow));
    CHECK(cudaMalloc(&state_, 16));
    CHECK(cudaMalloc(&map_, 128));
    CHECK(cudaFuncSetAttribute(copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    CHECK(cudaFuncSetAttribute(multicast_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kShared));
    CHECK(
        cudaFuncSetAttribute(replace_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  }

  // Returns "bytes hash", or a description of the error.
  std::string copy(const Case& c, std::uint32_t expect, std::FILE* dump) {
    char* const tensor = buffer_ + kMargin + c.address;
    CUtensorMap map;
    if (const CUresult e = encode(c, tensor, &map); e != CUDA_SUCCESS)
      return "no map: " + std::to_string(e);
    std::vector<std::uint64_t> buffer(kBuffer / 8), image(kWindow / 8);
    const bool loads =
        c.kind == Kind::kLoad || c.kind == Kind::kMulticast || c.kind == Kind::kReplace;
    fill(buffer, c.seed);
    if (loads) {
      std::memset(image.data(), 0xab, kWindow);
    } else {
      fill(image, c.seed == 0 ? 0 : c.seed + 1);
    }
    CHECK(cudaMemcpy(buffer_, buffer.data(), kBuffer, cudaMemcpyDefault));
    CHECK(cudaMemcpy(image_, image.data(), kWindow, cudaMemcpyDefault));
    CHECK(cudaMemset(state_, 0, 16));
    CHECK(cudaMemset(window_, 0, 2 * kWindow));
    Arguments a;
    a.kind = static_cast<int>(c.kind);
    a.rank = static_cast<int>(c.rank);
    a.im2col = c.im2col;
    a.reduction = c.reduction;
    for (std::size_t i = 0; i < c.at.size(); ++i) a.at[i] = c.at[i];
    for (std::size_t i = 0; i < c.offsets.size(); ++i)
      a.offsets[i] = static_cast<unsigned short>(c.offsets[i]);
    a.mask = static_cast<unsigned short>(c.mask);
    a.to = c.to;
    a.expect = expect;
    a.image = image_;
    a.window = window_;
    a.state = state_;
    if (c.kind == Kind::kMulticast) {
      multicast_kernel<<<2, 32, kShared>>>(map, a);
    } else if (c.kind == Kind::kReplace) {
      Case other;
      other.rank = 5;
      other.sizes = {32, 1, 1, 1, 1};
      other.strides = {32, 32, 32, 32};
      other.box = {16, 1, 1, 1, 1};
      other.steps = {1, 1, 1, 1, 1};
      other.promotion = c.promotion;
      CUtensorMap from;
      if (const CUresult e = encode(other, tensor + 64, &from); e != CUDA_SUCCESS)
        return "no map to begin with: " + std::to_string(e);
      replace_kernel<<<1, 32, kShared>>>(from, map_, fields(c, tensor), a);
    } else {
      copy_kernel<<<1, 32, kShared>>>(map, a);
    }
    if (const cudaError_t e = cudaDeviceSynchronize(); e != cudaSuccess) {
      failed_ = true;
      return "error " + std::to_string(static_cast<int>(e));
    }
    std::uint64_t state[2];
    CHECK(cudaMemcpy(state, state_, 16, cudaMemcpyDefault));
    std::vector<std::uint64_t> after(loads ? 2 * kWindow / 8 : kBuffer / 8);
    CHECK(cudaMemcpy(after.data(), loads ? static_cast<void*>(window_) : buffer_, after.size() * 8,
                     cudaMemcpyDefault));
    if (dump != nullptr) {
      // For loads the window of one block; for stores the memory around the tensor.
      std::fwrite(after.data() + (loads ? 0 : kMargin / 8), 1, kWindow / 2, dump);
    }
    char text[80];
    std::snprintf(text, sizeof text, "%u%s %016llx", expect, state[0] | state[1] ? " never" : "",
                  static_cast<unsigned long long>(hash(after)));
    return text;
  }
  bool failed() const { return failed_; }

 private:
  static Fields fields(const Case& c, void* address) {
    // tensormap.replace numbers the types in another order (PTX ISA).
    static constexpr int kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};
    Fields f;
    f.address = reinterpret_cast<unsigned long long>(address);
    f.rank = c.rank - 1;
    for (std::uint32_t d = 0; d < 5; ++d) {
      f.sizes[d] = d < c.rank ? static_cast<unsigned>(c.sizes[d]) : 1;
      f.box[d] = d < c.rank ? c.box[d] : 1;
      f.steps[d] = d < c.rank ? c.steps[d] : 1;
      if (d < 4) f.strides[d] = d + 1 < c.rank ? c.strides[d] : 0;
    }
    f.type = kTypes[c.type];
    f.interleave = c.interleave;
    f.swizzle = c.swizzle;
    f.fill = c.fill;
    return f;
  }

  char* buffer_ = nullptr;
  uint4 *image_ = nullptr, *window_ = nullptr;
  unsigned long long* state_ = nullptr;
  CUtensorMap* map_ = nullptr;
  bool failed_ = false;
};

int record(const char* path, int first, int count) {
  std::ifstream in(path);
  Device device;
  std::FILE* dump =
      std::getenv("DUMP") != nullptr ? std::fopen(std::getenv("DUMP"), "ab") : nullptr;
  int n = 0;
  for (std::string line; std::getline(in, line); ++n) {
    if (n < first || n - first >= count || line.empty() || line[0] == '#') continue;
    const Case c = parse_case(line);
    std::string answer;
    if (c.kind == Kind::kEncode) {
      alignas(64) CUtensorMap maps[2];
      answer = std::to_string(encode(c, reinterpret_cast<void*>(c.address), maps));
    } else {
      // An mbarrier's count of bytes cannot be read; a thread can only test whether its phase is
      // over.
      const bool loads =
          c.kind == Kind::kLoad || c.kind == Kind::kMulticast || c.kind == Kind::kReplace;
      answer = device.copy(c, loads ? copied_bytes(c) : 0, dump);
    }
    std::printf("%s : %s\n", c.text().c_str(), answer.c_str());
    std::fflush(stdout);
    if (device.failed()) return 3;
  }
  if (dump != nullptr) std::fclose(dump);
  return 0;
}

// The result of a case that ends the device's work, run in a process of its own. The caller must
// not have used the runtime.
std::string answer_of_child(const Case& c) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string answer = Device().copy(c, 0, nullptr);
    const bool sent =
        write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::string answer(200, ' ');
  const ssize_t n = read(ends[0], answer.data(), answer.size());
  answer.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return answer;
}

int check(const char* path) {
  std::ifstream in(path);
  std::unique_ptr<Device> device;
  int cases = 0, differ = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const Case c = parse_case(line);
    const std::string recorded = line.substr(line.find(" : ") + 3);
    std::string answer;
    if (c.kind == Kind::kEncode) {
      alignas(64) CUtensorMap maps[2];
      answer = std::to_string(encode(c, reinterpret_cast<void*>(c.address), maps));
    } else if (recorded.compare(0, 5, "error") == 0) {
      answer = answer_of_child(c);
    } else {
      if (device == nullptr) device = std::make_unique<Device>();
      answer = device->copy(
          c, static_cast<std::uint32_t>(std::strtoul(recorded.c_str(), nullptr, 10)), nullptr);
    }
    ++cases;
    if (answer == recorded) continue;
    if (++differ <= 40)
      std::printf("%s : %s, here %s\n", c.text().c_str(), recorded.c_str(), answer.c_str());
    if (device != nullptr && device->failed()) break;
  }
  std::printf("%d cases, %d differ\n", cases, differ);
  return differ != 0 || cases == 0;
}

// Prints the driver's functions that the runtime returns by name and version.
int entries() {
  for (const char* name :
       {"cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col", "cuTensorMapEncodeIm2colWide",
        "cuTensorMapReplaceAddress", "cuTensorMapEncodeTile", "cuNothing", "", "cuGetErrorString",
        "cuMemAlloc_v2"}) {
    for (const unsigned version : {0u, 11080u, 12000u, 12070u, 12080u, 13000u, 13010u, 14000u}) {
      void* f = nullptr;
      cudaDriverEntryPointQueryResult found = static_cast<cudaDriverEntryPointQueryResult>(77);
      const cudaError_t e =
          cudaGetDriverEntryPointByVersion(name, &f, version, cudaEnableDefault, &found);
      std::printf("entry '%s' %u : %d %d %s\n", name, version, static_cast<int>(e),
                  static_cast<int>(found), f != nullptr ? "found" : "null");
    }
    void* f = nullptr;
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion(name, &f, 13000, cudaEnableDefault, nullptr);
    std::printf("entry '%s' no result asked for : %d %s\n", name, static_cast<int>(e),
                f != nullptr ? "found" : "null");
  }
  return 0;
}

int generate(const std::string& what, int count, std::uint64_t seed) {
  std::vector<Case> all;
  if (what == "encode") all = encode_cases();
  if (what == "revealing") all = revealing_cases();
  if (what == "reductions") all = reduction_cases();
  if (what == "faults") all = fault_cases();
  if (what == "sizes") all = size_cases();
  if (what == "nulls") all = null_cases();
  if (what == "copies") all = copy_cases(count, seed);
  for (const Case& c : all) std::printf("%s\n", c.text().c_str());
  return all.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "generate" && argc > 2)
    return generate(argv[2], argc > 3 ? std::atoi(argv[3]) : 0,
                    argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0);
  if (mode == "record" && argc > 2)
    return record(argv[2], argc > 3 ? std::atoi(argv[3]) : 0,
                  argc > 4 ? std::atoi(argv[4]) : 1 << 30);
  if (mode == "check" && argc == 3) return check(argv[2]);
  if (mode == "entries") return entries();
  std::fprintf(stderr,
               "usage: %s generate WHAT [COUNT SEED] | record FILE [FIRST [COUNT]] | check FILE\n",
               argv[0]);
  return 2;
}
