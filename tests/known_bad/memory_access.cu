// Mutants of the gathers and scatters. The correct kernel consists of steps; a mutant replaces one
// step by a typical mistake. The negative controls at the end are correct in another way and must
// be accepted.
#include "tests/known_bad/memory_access.h"

namespace lockstep::known_bad {
namespace {

using kernels::AccessPattern;
using kernels::AccessShape;
using kernels::LaunchStatus;
using kernels::LoadPath;
using kernels::MemoryAccessLaunchers;
using kernels::PatternKind;
using Index = std::int64_t;

constexpr const char* kWho = "known-bad memory access";

// The correct steps, for elements of four bytes. The real launcher handles other sizes, paths and
// random patterns.
struct Honest {
  __device__ static bool takes_part(const AccessPattern& p, Index t, Index n) {
    return t < n && t % 32 < p.lanes;
  }
  __device__ static Index index(const AccessPattern& p, Index t) {
    switch (p.kind) {
      case PatternKind::kConsecutive: return t + p.offset;
      case PatternKind::kPermuted: return p.offset + t / 32 * 32 + (p.factor * t & 31);
      case PatternKind::kOneAddress: return p.offset;
      default: return p.factor * t + p.offset;
    }
  }
  __device__ static unsigned load(const unsigned* x, Index i) { return x[i]; }
  __device__ static void store(unsigned* y, Index i, unsigned value) { y[i] = value; }
  static unsigned blocks(Index n, Index block) {
    return static_cast<unsigned>((n - 1) / block + 1);
  }
};

template <class Step>
__global__ void gather_words(AccessPattern p, const unsigned* x, unsigned* y, Index n) {
  const Index t = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (Step::takes_part(p, t, n)) Step::store(y, t, Step::load(x, Step::index(p, t)));
}

template <class Step>
__global__ void scatter_words(AccessPattern p, const unsigned* x, unsigned* y, Index n) {
  const Index t = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (Step::takes_part(p, t, n)) Step::store(y, Step::index(p, t), Step::load(x, t));
}

template <class Step>
LaunchStatus gather(LoadPath path, const AccessPattern& p, int bytes, const void* x, Index x_count,
                    void* y, Index n, const AccessShape& shape, cudaStream_t stream) {
  LaunchStatus status = check_gather(path, p, bytes, x, x_count, y, n, shape);
  if (!status.ok() || n == 0) return status;
  if (bytes != 4 || path == LoadPath::kConstant || p.kind == PatternKind::kRandom) {
    return kernels::gather(path, p, bytes, x, x_count, y, n, shape, stream);
  }
  if (const unsigned blocks = Step::blocks(n, shape.block)) {
    gather_words<Step><<<blocks, shape.block, 0, stream>>>(p, static_cast<const unsigned*>(x),
                                                           static_cast<unsigned*>(y), n);
  }
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

template <class Step>
LaunchStatus scatter(const AccessPattern& p, int bytes, const void* x, void* y, Index y_count,
                     Index n, const AccessShape& shape, cudaStream_t stream) {
  LaunchStatus status = check_scatter(p, bytes, x, y, y_count, n, shape);
  if (!status.ok() || n == 0) return status;
  if (bytes != 4) return kernels::scatter(p, bytes, x, y, y_count, n, shape, stream);
  scatter_words<Step><<<Step::blocks(n, shape.block), shape.block, 0, stream>>>(
      p, static_cast<const unsigned*>(x), static_cast<unsigned*>(y), n);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

struct OffsetForgotten : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) {
    AccessPattern q = p;
    q.offset = 0;
    return Honest::index(q, t);
  }
};

struct StrideInBytes : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) {
    return p.kind == PatternKind::kStrided ? p.factor * t / 4 + p.offset : Honest::index(p, t);
  }
};

struct StrideIn32Bits : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) {
    return p.kind == PatternKind::kStrided ? static_cast<int>(p.factor * t) + p.offset
                                           : Honest::index(p, t);
  }
};

struct AllLanes : Honest {
  __device__ static bool takes_part(const AccessPattern&, Index t, Index n) { return t < n; }
};

struct NoEnd : Honest {
  __device__ static bool takes_part(const AccessPattern& p, Index t, Index) {
    return t % 32 < p.lanes;
  }
};

struct OneTooFar : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) { return Honest::index(p, t) + 1; }
};

struct WholeBlocksOnly : Honest {
  static unsigned blocks(Index n, Index block) { return static_cast<unsigned>(n / block); }
};

struct PermutesHalfWarps : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) {
    return p.kind == PatternKind::kPermuted ? p.offset + t / 16 * 16 + (p.factor * t & 15)
                                            : Honest::index(p, t);
  }
};

struct LowBytesOnly : Honest {
  __device__ static unsigned load(const unsigned* x, Index i) { return x[i] & 0xffffff; }
};

// Converts through float: signalling NaN patterns do not survive arithmetic.
struct ThroughFloat : Honest {
  __device__ static unsigned load(const unsigned* x, Index i) {
    return __float_as_uint(__fadd_rn(__uint_as_float(x[i]), -0.0f));
  }
};

struct PairsWhateverTheAlignment : Honest {
  __device__ static unsigned load(const unsigned* x, Index i) {
    const uint2 pair = *reinterpret_cast<const uint2*>(x + (i & ~Index{1}));
    return i & 1 ? pair.y : pair.x;
  }
};

// Correct values, but four memory requests instead of one.
struct ByteByByte : Honest {
  __device__ static unsigned load(const unsigned* x, Index i) {
    const volatile unsigned char* bytes = reinterpret_cast<const unsigned char*>(x + i);
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<unsigned>(bytes[3]) << 24;
  }
};

// Correct values, but two requests for each word.
struct ReadsTwice : Honest {
  __device__ static unsigned load(const unsigned* x, Index i) {
    const volatile unsigned* words = x;
    const unsigned first = words[i];
    return words[i] | first;
  }
};

struct StoresTwice : Honest {
  __device__ static void store(unsigned* y, Index i, unsigned value) {
    volatile unsigned* words = y;
    words[i] = 0;
    words[i] = value;
  }
};

// Correct up to 2^31 elements.
struct IndexIn32Bits : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) {
    return static_cast<int>(Honest::index(p, t));
  }
};

// Correct for factors that are not negative.
struct FactorWithoutItsSign : Honest {
  __device__ static Index index(const AccessPattern& p, Index t) {
    AccessPattern positive = p;
    positive.factor = p.factor < 0 ? -p.factor : p.factor;
    return Honest::index(positive, t);
  }
};

LaunchStatus seed_in_16_bits(LoadPath path, const AccessPattern& p, int bytes, const void* x,
                             Index x_count, void* y, Index n, const AccessShape& shape,
                             cudaStream_t stream) {
  AccessPattern short_seed = p;
  if (p.kind == PatternKind::kRandom) short_seed.factor &= 0xffff;
  return kernels::gather(path, short_seed, bytes, x, x_count, y, n, shape, stream);
}

LaunchStatus full_constant_memory_refused(LoadPath path, const AccessPattern& p, int bytes,
                                          const void* x, Index x_count, void* y, Index n,
                                          const AccessShape& shape, cudaStream_t stream) {
  if (path == LoadPath::kConstant && bytes > 0 && x_count == 65536 / bytes)
    return kernels::refused(kWho, "too large");
  return kernels::gather(path, p, bytes, x, x_count, y, n, shape, stream);
}

// ---- Negative controls.

struct AsFloats : Honest {
  __device__ static unsigned load(const unsigned* x, Index i) {
    return __float_as_uint(__ldg(reinterpret_cast<const float*>(x) + i));
  }
};

__global__ void gather_by_striding(AccessPattern p, const unsigned* x, unsigned* y, Index n) {
  for (Index t = threadIdx.x; t < n; t += blockDim.x) {
    if (Honest::takes_part(p, t, n)) y[t] = x[Honest::index(p, t)];
  }
}

LaunchStatus launch_by_striding(LoadPath path, const AccessPattern& p, int bytes, const void* x,
                                Index x_count, void* y, Index n, const AccessShape& shape,
                                cudaStream_t stream) {
  LaunchStatus status = check_gather(path, p, bytes, x, x_count, y, n, shape);
  if (!status.ok() || n == 0) return status;
  if (bytes != 4 || path == LoadPath::kConstant || p.kind == PatternKind::kRandom) {
    return kernels::gather(path, p, bytes, x, x_count, y, n, shape, stream);
  }
  gather_by_striding<<<1, shape.block, 0, stream>>>(p, static_cast<const unsigned*>(x),
                                                    static_cast<unsigned*>(y), n);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

template <auto kGather>
const MemoryAccessLaunchers* with_gather() {
  static const MemoryAccessLaunchers family = {.gather = kGather};
  return &family;
}
template <auto kScatter>
const MemoryAccessLaunchers* with_scatter() {
  static const MemoryAccessLaunchers family = {.scatter = kScatter};
  return &family;
}

}  // namespace

Mutants<const MemoryAccessLaunchers> memory_access_mutants() {
  constexpr const char* kFarOutside =
      "an access far outside ends the context: the rest of the process could not run";
  constexpr const char* kCounted = "the data is right; only the counters show it";
  return {
      {"offset_forgotten",
       "starts at the first element",
       with_gather<gather<OffsetForgotten>>(),
       {"mismatch"},
       {"mismatch"}},
      {"stride_in_bytes",
       "a stride counted in bytes where elements are meant",
       with_gather<gather<StrideInBytes>>(),
       {"mismatch"},
       {"mismatch"}},
      {"gather_stride_in_32_bits",
       "a factor times t in 32 bits",
       with_gather<gather<StrideIn32Bits>>(),
       {"finding:out-of-bounds", "mismatch"},
       {},
       kFarOutside},
      {"scatter_stride_in_32_bits",
       "a factor times t in 32 bits",
       with_scatter<scatter<StrideIn32Bits>>(),
       {"finding:out-of-bounds", "unwritten", "mismatch", "finding:race"},
       {},
       kFarOutside},
      {"all_lanes",
       "lanes that should take no part do",
       with_gather<gather<AllLanes>>(),
       {"law"},
       {"law"}},
      {"no_end",
       "threads past n take part",
       with_gather<gather<NoEnd>>(),
       {"finding:out-of-bounds"},
       {"guard", "law"}},
      {"one_too_far",
       "the element after the wanted one",
       with_gather<gather<OneTooFar>>(),
       {"finding:out-of-bounds", "mismatch"},
       {"mismatch"}},
      {"whole_blocks_only",
       "n / block blocks: the tail is nobody's",
       with_gather<gather<WholeBlocksOnly>>(),
       {"mismatch", "unwritten"},
       {"mismatch", "unwritten"}},
      {"permutes_half_warps",
       "permutes 16 elements, not 32",
       with_gather<gather<PermutesHalfWarps>>(),
       {"mismatch"},
       {"mismatch"}},
      {"low_bytes_only",
       "loses the top byte",
       with_gather<gather<LowBytesOnly>>(),
       {"mismatch"},
       {"mismatch"}},
      {"through_float",
       "moves bits by floating-point arithmetic",
       with_gather<gather<ThroughFloat>>(),
       {"mismatch"},
       {"mismatch"}},
      {"pairs_whatever_the_alignment",
       "8-byte loads from a base aligned to 4",
       with_gather<gather<PairsWhateverTheAlignment>>(),
       {"finding:misaligned", "finding:out-of-bounds"},
       {},
       "a misaligned access ends the context: the rest of the process could not run"},
      {"byte_by_byte",
       "four requests for one (found by counters)",
       with_gather<gather<ByteByByte>>(),
       {"law"},
       {},
       kCounted},
      {"reads_twice",
       "two requests for one (found by counters)",
       with_gather<gather<ReadsTwice>>(),
       {"law"},
       {},
       kCounted},
      {"scatter_offset_forgotten",
       "stores from the first element on",
       with_scatter<scatter<OffsetForgotten>>(),
       {"mismatch", "law", "finding:out-of-bounds"},
       {"mismatch", "law", "cuda-error"}},
      {"scatter_no_end",
       "threads past n store",
       with_scatter<scatter<NoEnd>>(),
       {"finding:out-of-bounds"},
       {},
       "it copies guard bytes onto equal guard bytes"},
      {"scatter_stores_twice",
       "two requests for one (found by counters)",
       with_scatter<scatter<StoresTwice>>(),
       {"law"},
       {},
       kCounted},
      {"index_in_32_bits",
       "an index that wraps around at 2^31",
       with_gather<gather<IndexIn32Bits>>(),
       {"finding:out-of-bounds"},
       {},
       "an access far outside ends the context"},
      {"scatter_index_in_32_bits",
       "the same of a scatter",
       with_scatter<scatter<IndexIn32Bits>>(),
       {"finding:out-of-bounds"},
       {},
       "an access far outside ends the context"},
      {"factor_without_its_sign",
       "a permutation by |factor|",
       with_gather<gather<FactorWithoutItsSign>>(),
       {"mismatch"},
       {"mismatch"}},
      {"seed_in_16_bits",
       "the low bits alone of a random pattern's seed",
       with_gather<seed_in_16_bits>(),
       {"mismatch"},
       {"mismatch"}},
      {"full_constant_memory_refused",
       "65,536 bytes do not fit",
       with_gather<full_constant_memory_refused>(),
       {"cuda-error"},
       {"cuda-error"}},
      // Negative controls.
      {"gather_in_steps", "the unchanged steps of the gather", with_gather<gather<Honest>>()},
      {"scatter_in_steps", "the unchanged steps of the scatter", with_scatter<scatter<Honest>>()},
      {"as_floats", "words moved as floats, without arithmetic", with_gather<gather<AsFloats>>()},
      {"by_striding", "one block strides over all elements", with_gather<launch_by_striding>()},
  };
}

}  // namespace lockstep::known_bad
