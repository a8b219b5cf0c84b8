// libcurand.so.10 for the simulated GPU: the host API's pseudorandom numbers (cuRAND, "Host API").
//
// Every generator returns the numbers of Philox 4x32-10 (Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", SC'11). Element i of a sequence comes from counter i / 4. The distributions
// are cuRAND's; the numbers are not. Quasirandom generators, and all integer distributions except
// Poisson's, are refused. Contract: curand.h of CUDA 13.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/library_work.h"

namespace {

enum Status {
  kSuccess = 0,
  kNotInitialized = 101,
  kTypeError = 103,
  kOutOfRange = 104,
  kLengthNotMultiple = 105,
  kLaunchFailure = 201,
  kInitializationFailed = 203,
  kInternalError = 999,
};

struct Generator {
  static constexpr unsigned kMagic = 0xc0da4d;
  unsigned magic = kMagic;
  bool on_host = false;
  cudaStream_t stream = nullptr;
  std::uint64_t seed = 0, next = 0;  // `next`: the index of the next 32-bit number
};

Status fail(const char* call, Status status, const char* reason, bool refused = false) {
  constexpr struct {
    Status status;
    const char *name, *text;
  } kStatuses[] = {
      {kNotInitialized, "CURAND_STATUS_NOT_INITIALIZED", "generator not initialized"},
      {kTypeError, "CURAND_STATUS_TYPE_ERROR", "generator is wrong type"},
      {kOutOfRange, "CURAND_STATUS_OUT_OF_RANGE", "argument out of range"},
      {kLengthNotMultiple, "CURAND_STATUS_LENGTH_NOT_MULTIPLE",
       "length requested is not a multiple of dimension"},
      {kInternalError, "CURAND_STATUS_INTERNAL_ERROR", "internal library error"},
  };
  for (const auto& s : kStatuses) {
    if (s.status == status) lockstepLibraryCallFailed(call, s.name, s.text, reason, refused);
  }
  return status;
}

// Makes findings name the code that calls this library, not the library.
[[maybe_unused]] const bool stands_in = [] {
  lockstepStandIn(reinterpret_cast<const void*>(&fail));
  return true;
}();

bool is_generator(const Generator* g) { return g != nullptr && g->magic == Generator::kMagic; }
constexpr const char* kNoGenerator = "the generator was not created, or was destroyed";

// ---- numbers ------------------------------------------------------------------------------------

// The sequence of 32-bit numbers for a seed.
class Sequence {
 public:
  // `branch`: different branches of one seed are independent sequences.
  Sequence(std::uint64_t seed, std::uint64_t first, std::uint64_t branch = 0)
      : seed_(seed), place_(first), branch_(branch) {}
  std::uint32_t next() {
    if (place_ % 4 == 0 || !has_block_) {
      block_ = philox(place_ / 4);
      has_block_ = true;
    }
    return block_[place_++ % 4];
  }
  std::uint64_t next_64() {
    const std::uint64_t low = next();
    return low | std::uint64_t{next()} << 32;
  }

 private:
  std::array<std::uint32_t, 4> philox(std::uint64_t counter) const {
    constexpr std::uint32_t kMultipliers[] = {0xd2511f53, 0xcd9e8d57};
    constexpr std::uint32_t kWeyl[] = {0x9e3779b9, 0xbb67ae85};
    std::array<std::uint32_t, 4> c{
        static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
        static_cast<std::uint32_t>(branch_), static_cast<std::uint32_t>(branch_ >> 32)};
    std::uint32_t k[] = {static_cast<std::uint32_t>(seed_),
                         static_cast<std::uint32_t>(seed_ >> 32)};
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{kMultipliers[0]} * c[0],
                          b = std::uint64_t{kMultipliers[1]} * c[2];
      c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
      k[0] += kWeyl[0];
      k[1] += kWeyl[1];
    }
    return c;
  }

  std::uint64_t seed_, place_, branch_;
  bool has_block_ = false;
  std::array<std::uint32_t, 4> block_{};
};

// A number in (0, 1].
float uniform(Sequence& s, float) {
  return std::fma(static_cast<float>(s.next()), 0x1p-32f, 0x1p-33f);
}
double uniform(Sequence& s, double) {
  return std::fma(static_cast<double>(s.next_64() >> 11), 0x1p-53, 0x1p-54);
}

// Generates two numbers at a time (Box and Muller).
template <class T>
void fill_normal(Sequence& s, T* to, std::size_t n, T mean, T deviation, bool is_logarithm) {
  for (std::size_t i = 0; i < n; i += 2) {
    const T radius = std::sqrt(T{-2} * std::log(uniform(s, T{})));
    const T angle = T(6.283185307179586) * uniform(s, T{});
    for (std::size_t j = 0; j < 2; ++j) {
      const T value = mean + deviation * radius * (j == 0 ? std::sin(angle) : std::cos(angle));
      to[i + j] = is_logarithm ? std::exp(value) : value;
    }
  }
}

// Multiplies uniform numbers, in steps with small means (Knuth, 3.4.1).
std::uint32_t poisson(Sequence& s, double lambda) {
  constexpr double kStep = 500;
  std::uint32_t count = 0;
  for (; lambda > 0; lambda -= kStep) {
    const double limit = std::exp(-std::fmin(lambda, kStep));
    for (double product = uniform(s, double{}); product > limit; product *= uniform(s, double{}))
      ++count;
  }
  return count;
}

// ---- calls --------------------------------------------------------------------------------------

// Generates n elements with `fill`. The call consumes `used` 32-bit numbers of the sequence.
template <class T, class Fill>
Status generate(const char* call, Generator* generator, T* to, std::size_t n, std::uint64_t used,
                Fill fill) {
  if (!is_generator(generator)) return fail(call, kNotInitialized, kNoGenerator);
  if (n == 0) return kSuccess;
  const Sequence sequence(generator->seed, generator->next);
  generator->next += used;
  if (generator->on_host) {
    Sequence s = sequence;
    fill(s, to);
    return kSuccess;
  }
  struct Work {
    const void* to;
    std::size_t n;
    Sequence sequence;
    Fill fill;
  };
  const void* const pointer = to;
  lockstepLibraryWork work{};
  work.call = call;
  work.data = new Work{to, n, sequence, fill};
  work.release = [](void* data) { delete static_cast<Work*>(data); };
  work.run = [](const void* data, lockstepRunningWork* running) {
    const auto& w = *static_cast<const Work*>(data);
    const std::size_t bytes = w.n * sizeof(T);
    const lockstepRegion region{"outputPtr", w.to,      bytes,          1, 1, bytes,
                                bytes,       sizeof(T), LOCKSTEP_WRITES};
    void* const at = lockstepOpenRegion(running, &region);
    if (at == nullptr) return 1;
    Sequence s = w.sequence;
    w.fill(s, static_cast<T*>(at));
    return 0;
  };
  work.pointers = &pointer;
  work.pointer_count = 1;
  return lockstepPutLibraryWork(generator->stream, &work) == cudaSuccess ? kSuccess
                                                                         : kLaunchFailure;
}

template <class T>
Status generate_uniform(const char* call, Generator* generator, T* to, std::size_t n) {
  return generate(call, generator, to, n, n * sizeof(T) / 4, [n](Sequence& s, T* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = uniform(s, T{});
  });
}

template <class T>
Status generate_normal(const char* call, Generator* generator, T* to, std::size_t n, T mean,
                       T deviation, bool is_logarithm) {
  if (n % 2 != 0)
    return fail(call, kLengthNotMultiple, "normal numbers come in pairs: n is not even");
  return generate(call, generator, to, n, n * sizeof(T) / 4, [=](Sequence& s, T* out) {
    fill_normal(s, out, n, mean, deviation, is_logarithm);
  });
}

Status create(const char* call, Generator** generator, int type, bool on_host) {
  if (generator == nullptr) return fail(call, kNotInitialized, "the generator is a null pointer");
  // 100 is the default; 101, 121, 141, 142 and 161 are XORWOW, MRG32K3A, MTGP32, MT19937 and
  // PHILOX4_32_10.
  switch (type) {
    case 100:
    case 101:
    case 121:
    case 141:
    case 142:
    case 161: break;
    default:
      return fail(call, kTypeError,
                  "the simulated cuRAND has pseudorandom generators and no quasirandom ones", true);
  }
  if (!on_host && cudaFree(nullptr) != cudaSuccess) return kInitializationFailed;
  *generator = new Generator;
  (*generator)->on_host = on_host;
  return kSuccess;
}

int unsupported(const char* call) {
  return fail(call, kInternalError,
              "the simulated library does not have this function: use one that it has "
              "(docs/reference/libraries.md), or check the program's own kernels without the call",
              true);
}

template <class Value>
Status set(const char* call, Generator* generator, Value Generator::*setting, Value value) {
  if (!is_generator(generator)) return fail(call, kNotInitialized, kNoGenerator);
  generator->*setting = value;
  return kSuccess;
}

}  // namespace

extern "C" {

Status curandCreateGenerator(Generator** generator, int type) {
  return create(__func__, generator, type, false);
}
Status curandCreateGeneratorHost(Generator** generator, int type) {
  return create(__func__, generator, type, true);
}
Status curandDestroyGenerator(Generator* generator) {
  return set(__func__, generator, &Generator::magic,
             0u);  // the memory is kept, so that later uses are detected
}
Status curandGetVersion(int* version) {
  if (version == nullptr) return fail(__func__, kOutOfRange, "a null pointer");
  *version = 100400;
  return kSuccess;
}
Status curandGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {10, 4, 0};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL)
    return fail(__func__, kOutOfRange, "there is no such property");
  *value = kVersion[type];
  return kSuccess;
}
Status curandSetStream(Generator* generator, cudaStream_t stream) {
  return set(__func__, generator, &Generator::stream, stream);
}
Status curandSetPseudoRandomGeneratorSeed(Generator* generator, unsigned long long seed) {
  const Status status = set(__func__, generator, &Generator::seed, std::uint64_t{seed});
  if (status == kSuccess) generator->next = 0;
  return status;
}
Status curandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  return set(__func__, generator, &Generator::next, std::uint64_t{offset});
}
Status curandSetGeneratorOrdering(Generator* generator, int) {
  return is_generator(generator) ? kSuccess : fail(__func__, kNotInitialized, kNoGenerator);
}
Status curandGenerateSeeds(Generator* generator) {
  return is_generator(generator) ? kSuccess : fail(__func__, kNotInitialized, kNoGenerator);
}

Status curandGenerate(Generator* generator, std::uint32_t* to, std::size_t n) {
  return generate(__func__, generator, to, n, n, [n](Sequence& s, std::uint32_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = s.next();
  });
}
Status curandGenerateUniform(Generator* generator, float* to, std::size_t n) {
  return generate_uniform(__func__, generator, to, n);
}
Status curandGenerateUniformDouble(Generator* generator, double* to, std::size_t n) {
  return generate_uniform(__func__, generator, to, n);
}
Status curandGenerateNormal(Generator* generator, float* to, std::size_t n, float mean,
                            float deviation) {
  return generate_normal(__func__, generator, to, n, mean, deviation, false);
}
Status curandGenerateNormalDouble(Generator* generator, double* to, std::size_t n, double mean,
                                  double deviation) {
  return generate_normal(__func__, generator, to, n, mean, deviation, false);
}
Status curandGenerateLogNormal(Generator* generator, float* to, std::size_t n, float mean,
                               float deviation) {
  return generate_normal(__func__, generator, to, n, mean, deviation, true);
}
Status curandGenerateLogNormalDouble(Generator* generator, double* to, std::size_t n, double mean,
                                     double deviation) {
  return generate_normal(__func__, generator, to, n, mean, deviation, true);
}
Status curandGeneratePoisson(Generator* generator, std::uint32_t* to, std::size_t n,
                             double lambda) {
  if (!(lambda > 0) || lambda > 400000)
    return fail(__func__, kOutOfRange, "lambda is not above 0, or above 400,000");
  if (!is_generator(generator)) return fail(__func__, kNotInitialized, kNoGenerator);
  // The numbers needed for an element vary, so each element has its own branch.
  const std::uint64_t seed = generator->seed, first = generator->next;
  return generate(__func__, generator, to, n, n, [=](Sequence&, std::uint32_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
      Sequence s(seed, 0, first + i + 1);
      out[i] = poisson(s, lambda);
    }
  });
}

#define UNSUPPORTED(name) \
  int name() { return unsupported(#name); }
UNSUPPORTED(curandCreatePoissonDistribution)
UNSUPPORTED(curandDestroyDistribution)
UNSUPPORTED(curandGenerateLongLong)
UNSUPPORTED(curandGeneratePoissonMethod)
UNSUPPORTED(curandGetDirectionVectors32)
UNSUPPORTED(curandGetDirectionVectors64)
UNSUPPORTED(curandGetScrambleConstants32)
UNSUPPORTED(curandGetScrambleConstants64)
UNSUPPORTED(curandSetQuasiRandomGeneratorDimensions)
#undef UNSUPPORTED

}  // extern "C"
