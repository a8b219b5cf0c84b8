// Mutants of the tensor copies. The correct kernel consists of steps; a mutant replaces one step by
// a typical mistake. Negative controls at the end are correct in another way. All copy tiles; the
// real launchers handle im2col.
#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "tests/known_bad/tensor_copy.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::TensorCopyLaunchers;
using kernels::TensorFill;
using kernels::TensorInterleave;
using kernels::TensorReduction;
using kernels::TensorShape;
using kernels::TensorSwizzle;
using Index = std::int64_t;
using Word = std::uint32_t;

constexpr const char* kWho = "known-bad tensor_copy";
constexpr Word kGrain = 1024;  // alignment of images in shared memory

struct Job {
  int rank;
  Word to, image_bytes, copied_bytes;
  bool by_hand;  // the kernel swizzles, not the map
  int sizes[5], box[5], steps[5];
  Word unit_bytes;
  const std::int32_t* at;
  Index count;
  unsigned char* images;
};

__device__ Word shared_address(const void* p) {
  return static_cast<Word>(__cvta_generic_to_shared(p));
}

__device__ uint4* image_of_block() {
  extern __shared__ uint4 dynamic[];
  const Word begin = shared_address(dynamic);
  return dynamic + ((begin + kGrain - 1) / kGrain * kGrain - begin) / sizeof(uint4);
}

__device__ void fill(uint4* image, Word bytes) {
  constexpr Word kBackground = 0x01010101u * kernels::kTensorBackground;
  for (Word i = threadIdx.x; i < bytes / 16; i += blockDim.x)
    image[i] = make_uint4(kBackground, kBackground, kBackground, kBackground);
}
__device__ void copy(const void* from, void* to, Word bytes) {
  for (Word i = threadIdx.x; i < bytes / 16; i += blockDim.x)
    static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
}

#define AT "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
#define OF_EACH_RANK(DO)          \
  switch (rank) {                 \
    DO(1, "{%2}")                 \
    DO(2, "{%2, %3}")             \
    DO(3, "{%2, %3, %4}")         \
    DO(4, "{%2, %3, %4, %5}")     \
    DO(5, "{%2, %3, %4, %5, %6}") \
  }

__device__ void load(const CUtensorMap* map, int rank, const int* at, Word to, Word barrier) {
#define LOAD(d, c)                                                                   \
  case d:                                                                            \
    asm volatile("cp.async.bulk.tensor." #d                                          \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
                 "[%1, " c "], [%7];" ::"r"(to),                                     \
                 "l"(map), AT, "r"(barrier)                                          \
                 : "memory");                                                        \
    break;
  OF_EACH_RANK(LOAD)
}
__device__ void load_for_all(const CUtensorMap* map, int rank, const int* at, Word to, Word barrier,
                             unsigned short mask) {
#define LOAD_FOR_ALL(d, c)                                                     \
  case d:                                                                      \
    asm volatile("cp.async.bulk.tensor." #d                                    \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"  \
                 ".multicast::cluster [%0], [%1, " c "], [%7], %8;" ::"r"(to), \
                 "l"(map), AT, "r"(barrier), "h"(mask)                         \
                 : "memory");                                                  \
    break;
  OF_EACH_RANK(LOAD_FOR_ALL)
}
#define STORE(d, c)                                                                        \
  case d:                                                                                  \
    asm volatile("cp.async.bulk.tensor." #d "d.global.shared::cta.tile.bulk_group [%1, " c \
                 "], [%0];" ::"r"(from),                                                   \
                 "l"(map), AT                                                              \
                 : "memory");                                                              \
    break;
__device__ void store(const CUtensorMap* map, int rank, const int* at,
                      Word from){OF_EACH_RANK(STORE)}

__device__ void publish() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void init(Word barrier, Word count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void arrive(Word barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ void expect(Word barrier, Word bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ void wait(Word barrier, unsigned parity) {
  for (unsigned done = 0; done == 0;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, "
        "p;}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_until_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void wait_for_all_blocks() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
__device__ bool elected() {
  unsigned leader;
  asm volatile("{.reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p;}"
               : "=r"(leader)
               : "r"(__activemask())
               : "memory");
  return leader != 0;
}

// ---- Loads.

struct HonestLoad {
  static TensorShape mapped(const TensorShape& shape) { return shape; }  // of the map
  // `scratch`: global memory, which finally holds the image.
  __device__ static const CUtensorMap* map(const CUtensorMap& given, unsigned char*) {
    return &given;
  }
  __device__ static void place(const Job&, int*) {}  // coordinates
  __device__ static Word to(const Job& w) { return w.to; }
  __device__ static void expect(Word barrier, const Job& w, const int*) {
    known_bad::expect(barrier, w.copied_bytes);
  }
  __device__ static void wait(Word barrier, unsigned parity) { known_bad::wait(barrier, parity); }
  __device__ static unsigned next(unsigned parity) { return parity ^ 1; }
  __device__ static void copy_out(const uint4* image, const Job& w, unsigned char* to) {
    copy(image, to, w.image_bytes);
  }
  __device__ static void wait_for_all() { __syncthreads(); }
  __device__ static void publish() { known_bad::publish(); }
};

template <class Step>
__global__ void load_each(const __grid_constant__ CUtensorMap given, const Job w) {
  __shared__ std::uint64_t object;
  const Word barrier = shared_address(&object);
  uint4* const image = image_of_block();
  if (threadIdx.x == 0) init(barrier, 1);
  unsigned parity = 0;
  for (Index i = blockIdx.x; i < w.count; i += gridDim.x, parity = Step::next(parity)) {
    fill(image, w.image_bytes);
    Step::publish();
    Step::wait_for_all();
    if (threadIdx.x == 0) {
      const CUtensorMap* const map = Step::map(given, w.images + i * w.image_bytes);
      int at[5];
      for (int d = 0; d < 5; ++d) at[d] = w.at[5 * i + d];
      Step::place(w, at);
      Step::expect(barrier, w, at);
      load(map, w.rank, at, shared_address(image) + Step::to(w), barrier);
    }
    Step::wait(barrier, parity);
    Step::copy_out(image, w, w.images + i * w.image_bytes);
  }
}

struct BackgroundWithoutItsFence : HonestLoad {
  __device__ static void publish() {}
};
struct NoWait : HonestLoad {
  __device__ static void wait(Word, unsigned) {}
};
struct OtherParity : HonestLoad {
  __device__ static void wait(Word barrier, unsigned parity) {
    known_bad::wait(barrier, parity ^ 1);
  }
};
struct SameParity : HonestLoad {
  __device__ static unsigned next(unsigned parity) { return parity; }
};
struct BeforeTheOthers : HonestLoad {
  __device__ static void wait_for_all() {}
};
struct ExpectsTooFew : HonestLoad {
  __device__ static void expect(Word barrier, const Job& w, const int*) {
    known_bad::expect(barrier, w.copied_bytes - 16);
  }
};
struct ExpectsTooMany : HonestLoad {
  __device__ static void expect(Word barrier, const Job& w, const int*) {
    known_bad::expect(barrier, w.copied_bytes + 16);
  }
};
// Expects the bytes inside the tensor only.
struct ExpectsWhatIsInside : HonestLoad {
  __device__ static void expect(Word barrier, const Job& w, const int* at) {
    Word bytes = w.unit_bytes;
    for (int d = 0; d < w.rank; ++d) {
      Word inside = 0;
      const int step = d == 0 ? 1 : w.steps[d];
      for (int i = 0; i < w.box[d]; i += step) inside += at[d] + i >= 0 && at[d] + i < w.sizes[d];
      bytes *= inside;
    }
    known_bad::expect(barrier, bytes);
  }
};
// The arrival that completes the phase precedes expect_tx: the bytes count towards the next
// phase.
struct ArmedTooLate : HonestLoad {
  __device__ static void expect(Word barrier, const Job& w, const int*) {
    arrive(barrier);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                 "r"(w.copied_bytes)
                 : "memory");
  }
};
struct CoordinatesSwapped : HonestLoad {
  __device__ static void place(const Job& w, int* at) {
    const int outer = at[w.rank - 1];
    at[w.rank - 1] = at[0], at[0] = outer;
  }
};
struct Misaligned : HonestLoad {
  __device__ static Word to(const Job& w) { return w.to + 16; }
};
// The kernel itself writes the map to global memory.
struct MapWithoutItsFence : HonestLoad {
  __device__ static const CUtensorMap* map(const CUtensorMap& given, unsigned char* scratch) {
    auto* const words = reinterpret_cast<std::uint64_t*>(
        (reinterpret_cast<std::uintptr_t>(scratch) + 63) / 64 * 64);
    for (int i = 0; i < 16; ++i) words[i] = reinterpret_cast<const std::uint64_t*>(&given)[i];
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    return reinterpret_cast<const CUtensorMap*>(words);
  }
};
// A negative control.
struct MapWithItsFence : HonestLoad {
  __device__ static const CUtensorMap* map(const CUtensorMap& given, unsigned char* scratch) {
    const CUtensorMap* const copied = MapWithoutItsFence::map(given, scratch);
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copied) : "memory");
    return copied;
  }
};
struct FillIgnored : HonestLoad {
  static TensorShape mapped(TensorShape shape) {
    shape.fill = TensorFill::kZeros;
    return shape;
  }
};
struct OneRowLess : HonestLoad {
  static TensorShape mapped(TensorShape shape) {
    if (shape.rank > 1 && shape.interleave == TensorInterleave::kNone &&
        shape.box[1] > shape.steps[1])
      shape.box[1] -= shape.steps[1];
    return shape;
  }
};
struct AnotherSwizzle : HonestLoad {
  static TensorShape mapped(TensorShape shape) {
    if (fills_its_span(shape))
      shape.swizzle =
          shape.swizzle == TensorSwizzle::k128 ? TensorSwizzle::kNone : TensorSwizzle::k128;
    return shape;
  }
  // Rows narrower than the swizzle's span are one span apart.
  static bool fills_its_span(const TensorShape& s) {
    return s.swizzle == TensorSwizzle::k128 && s.interleave == TensorInterleave::kNone &&
           kernels::tensor_copied_bytes(s) == rows(s) * 128;
  }
  static Index rows(const TensorShape& s) {
    Index n = 1;
    for (int d = 1; d < s.rank; ++d) n *= (s.box[d] + s.steps[d] - 1) / s.steps[d];
    return n;
  }
};
// Swizzles 128 bytes in the kernel, counted from the begin of the copy; hardware counts from the
// address.
struct SwizzledFromTheCopy : AnotherSwizzle {
  __device__ static Word line(const Job& w, Word piece) { return (piece - w.to / 16) / 8; }
  __device__ static void copy_out_by(const uint4* image, const Job& w, unsigned char* to,
                                     Word (*line)(const Job&, Word)) {
    for (Word i = threadIdx.x; i < w.image_bytes / 16; i += blockDim.x) {
      const bool copied = w.by_hand && i >= w.to / 16 && i < (w.to + w.copied_bytes) / 16;
      reinterpret_cast<uint4*>(to)[i] = image[copied ? i ^ line(w, i) % 8 : i];
    }
    __syncthreads();  // the next background overwrites pieces that other threads copy out
  }
  __device__ static void copy_out(const uint4* image, const Job& w, unsigned char* to) {
    copy_out_by(image, w, to, line);
  }
};
// A negative control.
struct SwizzledByHand : SwizzledFromTheCopy {
  __device__ static Word line(const Job&, Word piece) { return piece / 8; }
  __device__ static void copy_out(const uint4* image, const Job& w, unsigned char* to) {
    copy_out_by(image, w, to, line);
  }
};

// ---- Multicasts.

struct HonestMulticast {
  __device__ static void expect(Word barrier, const Job& w, bool) {
    known_bad::expect(barrier, w.copied_bytes);
  }
  __device__ static void wait_until_all_are_ready() { wait_for_all_blocks(); }
  __device__ static unsigned short blocks(unsigned count) {
    return static_cast<unsigned short>((1u << count) - 1);
  }
};

template <class Step>
__global__ void multicast_each(const __grid_constant__ CUtensorMap map, const Job w) {
  __shared__ std::uint64_t object;
  const Word barrier = shared_address(&object);
  uint4* const image = image_of_block();
  unsigned rank, blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  if (threadIdx.x == 0) init(barrier, 1);
  unsigned parity = 0;
  for (Index i = blockIdx.x / blocks; i < w.count; i += gridDim.x / blocks, parity ^= 1) {
    fill(image, w.image_bytes);
    publish();
    __syncthreads();
    const bool issues = rank == i % blocks;
    if (threadIdx.x == 0) Step::expect(barrier, w, issues);
    Step::wait_until_all_are_ready();
    if (threadIdx.x == 0 && issues)
      load_for_all(&map, w.rank, w.at + 5 * i, shared_address(image) + w.to, barrier,
                   Step::blocks(blocks));
    wait(barrier, parity);
    copy(image, w.images + (i * blocks + rank) * w.image_bytes, w.image_bytes);
    __syncthreads();
  }
  wait_for_all_blocks();
}

// The copy may arrive at a block without an initialised mbarrier, or one that still reads.
struct ComesUnasked : HonestMulticast {
  __device__ static void wait_until_all_are_ready() {}
};
// Each block's mbarrier expects only the bytes of its own copies.
struct OnlyTheIssuerExpects : HonestMulticast {
  __device__ static void expect(Word barrier, const Job& w, bool issues) {
    issues ? known_bad::expect(barrier, w.copied_bytes) : arrive(barrier);
  }
};
struct LeavesOutTheLastBlock : HonestMulticast {
  __device__ static unsigned short blocks(unsigned count) {
    return static_cast<unsigned short>((1u << (count - 1)) - 1);
  }
};

// ---- Stores.

struct HonestStore {
  __device__ static void publish_own() { publish(); }  // before the barrier
  __device__ static void publish_all() {}              // after the barrier, by the issuing thread
  __device__ static void meet(Word) { __syncthreads(); }
  // Called by all threads: one issues the store and waits until its source may be reused.
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x != 0) return;
    store(map, w.rank, at, from);
    commit();
    wait_until_read();
  }
};

template <class Step>
__global__ void store_each(const __grid_constant__ CUtensorMap map, const Job w) {
  __shared__ std::uint64_t object;
  const Word barrier = shared_address(&object);
  uint4* const image = image_of_block();
  if (threadIdx.x == 0) init(barrier, (blockDim.x + 31) / 32);  // one arrival per warp
  __syncthreads();
  unsigned parity = 0;
  for (Index i = blockIdx.x; i < w.count; i += gridDim.x, parity ^= 1) {
    copy(w.images + i * w.image_bytes, image, w.image_bytes);
    Step::publish_own();
    if constexpr (Step::kMeetsAtTheMbarrier) {
      Step::meet(barrier);
      wait(barrier, parity);
    } else {
      Step::meet(barrier);
    }
    if (threadIdx.x == 0) Step::publish_all();
    int at[5];
    for (int d = 0; d < 5; ++d) at[d] = w.at[5 * i + d];
    Step::issue(&map, w, at, shared_address(image) + w.to);
    __syncthreads();
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

struct PlainStore : HonestStore {
  static constexpr bool kMeetsAtTheMbarrier = false;
};
struct NoProxyFence : PlainStore {
  __device__ static void publish_own() {}
};
// A fence by the issuer before the barrier does not cover other threads' stores.
struct FenceOfTheIssuer : PlainStore {
  __device__ static void publish_own() {
    if (threadIdx.x == 0) publish();
  }
};
// A negative control: the issuer's fence after the barrier.
struct FenceBehindTheBarrier : PlainStore {
  __device__ static void publish_own() {}
  __device__ static void publish_all() { publish(); }
};
struct NoWaitForReading : PlainStore {
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x != 0) return;
    store(map, w.rank, at, from);
    commit();
  }
};
struct NoCommit : PlainStore {
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x != 0) return;
    store(map, w.rank, at, from);
    wait_until_read();
  }
};
// Bulk groups are per thread: another thread's wait returns at once.
struct AnotherThreadWaits : PlainStore {
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x == 0) {
      store(map, w.rank, at, from);
      commit();
    }
    if (threadIdx.x == 1) wait_until_read();
  }
};
struct OneGroupMayBeLeft : PlainStore {
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x != 0) return;
    store(map, w.rank, at, from);
    commit();
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  }
};
// The elected lane issues; lane 0 waits, assuming that it is the elected lane.
struct ElectedIsLaneZero : PlainStore {
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x >= 32) return;
    if (elected()) {
      store(map, w.rank, at, from);
      commit();
    }
    if (threadIdx.x == 0) wait_until_read();
  }
};
// A negative control: the issuing lane waits.
struct ElectedWaits : PlainStore {
  __device__ static void issue(const CUtensorMap* map, const Job& w, const int* at, Word from) {
    if (threadIdx.x >= 32 || !elected()) return;
    store(map, w.rank, at, from);
    commit();
    wait_until_read();
  }
};
// A negative control: one lane arrives for its warp, after a __syncwarp.
struct OneLaneAfterItsWarp : HonestStore {
  static constexpr bool kMeetsAtTheMbarrier = true;
  __device__ static void meet(Word barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(barrier);
  }
};

// ---- Launches.

// Shapes that the mutants handle; the real launchers handle the rest. A block has 48 KB by default,
// barriers included.
bool is_theirs(const TensorShape& s) {
  return !s.im2col && kernels::tensor_image_bytes(s) + kGrain < 48 << 10;
}

Job job_of(const TensorShape& given, const TensorShape& mapped, const std::int32_t* at, Index count,
           const unsigned char* images) {
  constexpr Word kElementBytes[] = {1, 2, 4, 4, 8, 2, 2, 4, 8};
  Job w = {};
  w.rank = given.rank, w.to = given.to;
  w.image_bytes = static_cast<Word>(kernels::tensor_image_bytes(given));
  w.copied_bytes = static_cast<Word>(kernels::tensor_copied_bytes(mapped));
  w.by_hand = given.swizzle != mapped.swizzle;
  for (int d = 0; d < 5; ++d) {
    w.sizes[d] = static_cast<int>(std::min<Index>(given.sizes[d], 1 << 30));
    w.box[d] = given.box[d], w.steps[d] = given.steps[d];
  }
  w.unit_bytes = kElementBytes[static_cast<int>(given.element)];
  if (given.interleave != TensorInterleave::kNone) {
    w.unit_bytes = given.interleave == TensorInterleave::k32 ? 32 : 16;
    w.box[given.rank - 2] = 1;
  }
  w.at = at, w.count = count, w.images = const_cast<unsigned char*>(images);
  return w;
}

template <class Kernel>
LaunchStatus launch(Kernel* kernel, const TensorShape& s, const TensorShape& mapped,
                    const void* tensor, const Job& w, int cluster, cudaStream_t stream) {
  CUtensorMap map;
  if (LaunchStatus status = kernels::make_tensor_map(mapped, tensor, map); !status.ok())
    return status;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster, attribute.val.clusterDim.y = 1,
  attribute.val.clusterDim.z = 1;
  config.gridDim = dim3(static_cast<unsigned>(
      std::min<Index>(w.count, std::max(s.max_blocks / cluster, 1)) * cluster));
  config.blockDim = dim3(s.block);
  config.dynamicSmemBytes = w.image_bytes + kGrain;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return kernels::status_of(cudaLaunchKernelEx(&config, kernel, map, w), kWho, "launching");
}

template <class Step>
LaunchStatus load_in_steps(const TensorShape& shape, const unsigned char* tensor,
                           const std::int32_t* at, Index count, unsigned char* images,
                           cudaStream_t stream) {
  const LaunchStatus status = kernels::check_tensor_load(shape, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  if (!is_theirs(shape)) return kernels::tensor_load(shape, tensor, at, count, images, stream);
  const TensorShape mapped = Step::mapped(shape);
  return launch(load_each<Step>, shape, mapped, tensor, job_of(shape, mapped, at, count, images), 1,
                stream);
}

// Ignores the bytes of the barrier.
LaunchStatus load_of_48_kb(const TensorShape& shape, const unsigned char* tensor,
                           const std::int32_t* at, Index count, unsigned char* images,
                           cudaStream_t stream) {
  const LaunchStatus status = kernels::check_tensor_load(shape, tensor, at, count, images);
  if (!status.ok() || count == 0 || shape.im2col ||
      kernels::tensor_image_bytes(shape) + kGrain != 48 << 10)
    return status.ok() ? load_in_steps<HonestLoad>(shape, tensor, at, count, images, stream)
                       : status;
  return launch(load_each<HonestLoad>, shape, shape, tensor,
                job_of(shape, shape, at, count, images), 1, stream);
}

template <class Step>
LaunchStatus multicast_in_steps(const TensorShape& shape, int cluster, const unsigned char* tensor,
                                const std::int32_t* at, Index count, unsigned char* images,
                                cudaStream_t stream) {
  const LaunchStatus status =
      kernels::check_tensor_multicast(shape, cluster, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  if (!is_theirs(shape))
    return kernels::tensor_multicast(shape, cluster, tensor, at, count, images, stream);
  return launch(multicast_each<Step>, shape, shape, tensor, job_of(shape, shape, at, count, images),
                cluster, stream);
}

template <class Step>
LaunchStatus store_in_steps(const TensorShape& shape, unsigned char* tensor, const std::int32_t* at,
                            Index count, const unsigned char* images, cudaStream_t stream) {
  const LaunchStatus status = kernels::check_tensor_store(shape, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  if (!is_theirs(shape)) return kernels::tensor_store(shape, tensor, at, count, images, stream);
  return launch(store_each<Step>, shape, shape, tensor, job_of(shape, shape, at, count, images), 1,
                stream);
}

// The old values are lost.
LaunchStatus store_in_place_of_the_reduction(TensorReduction reduction, const TensorShape& shape,
                                             unsigned char* tensor, const std::int32_t* at,
                                             Index count, const unsigned char* images,
                                             cudaStream_t stream) {
  const LaunchStatus status =
      kernels::check_tensor_reduce(reduction, shape, tensor, at, count, images);
  if (!status.ok() || count == 0) return status;
  return kernels::tensor_store(shape, tensor, at, count, images, stream);
}

template <auto kMember, auto kLauncher>
const TensorCopyLaunchers* with() {
  static const TensorCopyLaunchers family = [] {
    TensorCopyLaunchers f;
    f.*kMember = kLauncher;
    return f;
  }();
  return &family;
}
template <class Step>
const TensorCopyLaunchers* loads() {
  return with<&TensorCopyLaunchers::load, &load_in_steps<Step>>();
}
template <class Step>
const TensorCopyLaunchers* multicasts() {
  return with<&TensorCopyLaunchers::multicast, &multicast_in_steps<Step>>();
}
template <class Step>
const TensorCopyLaunchers* stores() {
  return with<&TensorCopyLaunchers::store, &store_in_steps<Step>>();
}

}  // namespace

Mutants<const TensorCopyLaunchers> tensor_copy_mutants() {
  constexpr const char* kHangs = "the phase never completes: on hardware the kernel hangs";
  constexpr const char* kEnds = "an error of the device ends the context";
  constexpr const char* kTimely = "the copy is often done before anybody looks";
  constexpr const char* kQuick = "the copy has often read its source before it is overwritten";
  constexpr const char* kCoherent =
      "whether the store is seen without its fence is up to the hardware";
  const Labels race = {"finding:race"};
  return {
      // Loads.
      {"background_without_its_fence",
       "ordinary stores into the bytes that a load overwrites, and no fence between",
       loads<BackgroundWithoutItsFence>(),
       {"finding:missing-proxy-fence"},
       {},
       kCoherent},
      {"load_of_48_kb",
       "48 KB of dynamic shared memory beside the barrier's 8 bytes, without asking for more",
       with<&TensorCopyLaunchers::load, &load_of_48_kb>(),
       {"cuda-error"},
       {"cuda-error"}},
      {"no_wait",
       "reads shared memory without waiting for the barrier",
       loads<NoWait>(),
       race,
       {},
       kTimely},
      {"other_parity",
       "waits for the phase that is over",
       loads<OtherParity>(),
       {"finding:race", "finding:deadlock"},
       {},
       kTimely},
      {"same_parity",
       "the parity of the first phase for every copy",
       loads<SameParity>(),
       {"finding:race", "finding:deadlock"},
       {},
       kTimely},
      {"before_the_others",
       "copies to where slower warps still write their background",
       loads<BeforeTheOthers>(),
       {"finding:race", "finding:mbarrier-misuse", "mismatch"},
       {},
       "warps often run in the order that is needed"},
      {"expects_too_few",
       "16 bytes less than are copied",
       loads<ExpectsTooFew>(),
       {"finding:deadlock", "finding:race"},
       {},
       kHangs},
      {"expects_too_many",
       "16 bytes more than are copied",
       loads<ExpectsTooMany>(),
       {"finding:deadlock"},
       {},
       kHangs},
      {"expects_what_is_inside",
       "does not count what lies outside of the tensor",
       loads<ExpectsWhatIsInside>(),
       {"finding:deadlock"},
       {},
       kHangs},
      {"armed_too_late",
       "arrives, and then says how many bytes will come",
       loads<ArmedTooLate>(),
       {"finding:race", "finding:deadlock"},
       {},
       kTimely},
      {"coordinates_swapped",
       "the outermost coordinate first",
       loads<CoordinatesSwapped>(),
       {"mismatch", "finding:invalid-instruction"},
       {},
       "coordinates that are no multiple of 16 bytes end the context"},
      {"misaligned",
       "a place in shared memory that 128 does not divide",
       loads<Misaligned>(),
       {"finding:misaligned"},
       {},
       kEnds},
      {"fill_ignored", "zeros in place of NaN", loads<FillIgnored>(), {"mismatch"}, {"mismatch"}},
      {"one_row_less",
       "a box that is one row short",
       loads<OneRowLess>(),
       {"mismatch"},
       {"mismatch"}},
      {"another_swizzle",
       "no swizzle where 128 bytes were promised",
       loads<AnotherSwizzle>(),
       {"mismatch"},
       {"mismatch"}},
      {"swizzled_from_the_copy",
       "the pattern begins at the copy and not at a multiple of 1024 bytes",
       loads<SwizzledFromTheCopy>(),
       {"mismatch"},
       {"mismatch"}},
      {"map_without_its_fence",
       "a map that the kernel has copied, without fence.proxy.tensormap",
       loads<MapWithoutItsFence>(),
       {"finding:missing-proxy-fence"},
       {},
       "whether the map is seen without its fence is up to the hardware"},
      // Multicasts.
      {"comes_unasked",
       "a multicast to blocks whose barriers expect nothing yet",
       multicasts<ComesUnasked>(),
       {"finding:race", "finding:mbarrier-misuse", "finding:uninitialised"},
       {},
       "blocks of a cluster often come at the same time"},
      {"only_the_issuer_expects",
       "the other blocks' barriers complete without the bytes",
       multicasts<OnlyTheIssuerExpects>(),
       {"finding:race", "finding:deadlock"},
       {},
       kTimely},
      {"leaves_out_the_last_block",
       "a mask with one block less",
       multicasts<LeavesOutTheLastBlock>(),
       {"finding:deadlock"},
       {},
       kHangs},
      // Stores.
      {"no_proxy_fence",
       "stores to global memory what no fence has shown to the copy",
       stores<NoProxyFence>(),
       {"finding:missing-proxy-fence"},
       {},
       kCoherent},
      {"fence_of_the_issuer",
       "the thread that issues fences its own stores before the barrier, and nobody the others'",
       stores<FenceOfTheIssuer>(),
       {"finding:missing-proxy-fence"},
       {},
       kCoherent},
      {"no_wait_for_reading",
       "the next image overwrites what the copy still reads",
       stores<NoWaitForReading>(),
       race,
       {},
       kQuick},
      {"no_commit", "waits for groups, and there is none", stores<NoCommit>(), race, {}, kQuick},
      {"another_thread_waits",
       "a thread that has issued nothing waits",
       stores<AnotherThreadWaits>(),
       race,
       {},
       kQuick},
      {"one_group_may_be_left",
       "wait_group.read 1 where all must be done",
       stores<OneGroupMayBeLeft>(),
       race,
       {},
       kQuick},
      {"elected_is_lane_0",
       "the elected lane issues and lane 0 waits",
       stores<ElectedIsLaneZero>(),
       race,
       {},
       "an H100 elects the lowest lane, as programs may not rely on"},
      // Reductions.
      {"store_in_place_of_the_reduction",
       "what was there is lost",
       with<&TensorCopyLaunchers::reduce, &store_in_place_of_the_reduction>(),
       {"mismatch", "finding:race"},
       {"mismatch"}},
      // Negative controls.
      {"loads_in_steps", "the unchanged steps of loads", loads<HonestLoad>()},
      {"map_with_its_fence", "the map that the kernel has copied, and its fence",
       loads<MapWithItsFence>()},
      {"swizzled_by_hand", "a swizzle of 128 bytes by ordinary loads", loads<SwizzledByHand>()},
      {"multicasts_in_steps", "the unchanged steps of multicasts", multicasts<HonestMulticast>()},
      {"stores_in_steps", "the unchanged steps of stores", stores<PlainStore>()},
      {"fence_behind_the_barrier", "the thread that issues fences for all, behind the barrier",
       stores<FenceBehindTheBarrier>()},
      {"elected_waits", "the elected lane issues and waits", stores<ElectedWaits>()},
      {"one_lane_after_its_warp", "a lane arrives for its warp behind __syncwarp",
       stores<OneLaneAfterItsWarp>()},
  };
}

}  // namespace lockstep::known_bad
