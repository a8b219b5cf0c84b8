#include "simulator/runtime/state/jit_options.h"

#include <algorithm>
#include <cstring>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {
namespace {

// Of a thread: what machine code can name, and what the compiler does not go below (an H100's: "to
// lower bound of 24").
constexpr std::uint32_t kMostRegisters = 255, kFewestRegisters = 24;
constexpr std::uint32_t kMostThreads = 1024;

// CUjit_target: 10 * major + minor, plus one of two numbers for targets of one architecture or
// family.
int capability_of(std::uint32_t target) {
  constexpr std::uint32_t kBases[] = {CU_COMPUTE_FAMILY_TARGET_BASE,
                                      CU_COMPUTE_ACCELERATED_TARGET_BASE};
  for (const std::uint32_t base : kBases) {
    if (target > base) return static_cast<int>(target - base);
  }
  return static_cast<int>(target);
}
bool is_target(std::uint32_t target) {
  constexpr int kKnown[] = {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70, 72,
                            75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
  return std::find(std::begin(kKnown), std::end(kKnown), capability_of(target)) != std::end(kKnown);
}

}  // namespace

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values)
    : count_(count), options_(options), values_(values) {}

void** JitOptions::value(CUjit_option which) const {
  for (unsigned i = 0; i < count_; ++i) {
    if (options_[i] == which) return &values_[i];
  }
  return nullptr;
}

std::uint32_t JitOptions::number(CUjit_option which) const {
  void** const at = value(which);
  return at == nullptr ? 0 : static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*at));
}

cudaError_t JitOptions::check(int compute_capability) {
  const auto refuse = [&] {
    looked_at_ = false;
    return cudaErrorInvalidValue;
  };
  if (count_ != 0 && (options_ == nullptr || values_ == nullptr)) return refuse();
  const auto together = [&](CUjit_option a, CUjit_option b) {
    return (value(a) == nullptr) == (value(b) == nullptr);
  };
  for (unsigned i = 0; i < count_; ++i) {
    if (options_[i] < 0 || options_[i] >= CU_JIT_NUM_OPTIONS) return refuse();
  }
  if (value(CU_JIT_MAX_REGISTERS) != nullptr && number(CU_JIT_MAX_REGISTERS) == 0) return refuse();
  if (number(CU_JIT_CACHE_MODE) > CU_JIT_CACHE_OPTION_CA) return refuse();
  const std::uint32_t target = number(CU_JIT_TARGET);
  if (target != 0 && !is_target(target)) return refuse();
  if (value(CU_JIT_INFO_LOG_BUFFER) != nullptr &&
      value(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) == nullptr)
    return refuse();
  if (value(CU_JIT_ERROR_LOG_BUFFER) != nullptr &&
      value(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) == nullptr)
    return refuse();
  if (!together(CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_COUNT) ||
      !together(CU_JIT_GLOBAL_SYMBOL_ADDRESSES, CU_JIT_GLOBAL_SYMBOL_COUNT)) {
    return refuse();
  }
  // From here on the compiler says what is wrong.
  if (value(CU_JIT_TARGET) != nullptr && capability_of(target) != compute_capability) {
    refusal_ = "CU_JIT_TARGET is " + std::to_string(target) + ", and the device is of " +
               std::to_string(compute_capability);
    return target == 0 ? cudaErrorInvalidKernelImage : cudaErrorInvalidSource;
  }
  if (number(CU_JIT_NEW_SM3X_OPT) != 0) {
    refusal_ = "CU_JIT_NEW_SM3X_OPT: the compiler has no such option any more";
    return cudaErrorInvalidPtx;
  }
  return cudaSuccess;
}

CodeLimits JitOptions::limits() const {
  CodeLimits result;
  if (const std::uint32_t most = number(CU_JIT_MAX_REGISTERS);
      most != 0 && most <= kMostRegisters) {
    result.registers = static_cast<int>(std::max(most, kFewestRegisters));
  }
  // As many as leave room for a block of so many threads, in eights.
  if (const std::uint32_t threads = std::min(number(CU_JIT_THREADS_PER_BLOCK), kMostThreads);
      threads != 0) {
    const int most = static_cast<int>(Profile::kRegistersPerMultiprocessor / threads / 8 * 8);
    if (result.registers == 0 || most < result.registers) result.registers = most;
  }
  if (const std::uint32_t threads = number(CU_JIT_MAX_THREADS_PER_BLOCK); threads <= kMostThreads)
    result.threads = threads;
  return result;
}

std::string JitOptions::information() const {
  const std::uint32_t most = number(CU_JIT_MAX_REGISTERS);
  if (most > kMostRegisters)
    return "CU_JIT_MAX_REGISTERS is " + std::to_string(most) +
           ", more than a thread can have: ignored";
  if (most != 0 && most < kFewestRegisters) {
    return "CU_JIT_MAX_REGISTERS is " + std::to_string(most) +
           ": raised to the least that there is, " + std::to_string(kFewestRegisters);
  }
  return {};
}

void JitOptions::finish(cudaError_t result, const std::string& reason, bool linked) const {
  if (!looked_at_) return;
  // Sizes are numbers in the place of pointers; what was written goes back in the same place: all
  // of the buffer where the text does not fit.
  const auto put = [&](CUjit_option buffer, CUjit_option size, const std::string& text) {
    void** const at = value(buffer);
    void** const room = value(size);
    if (room == nullptr) return;
    const std::size_t bytes = number(size);
    std::size_t written = 0;
    if (at != nullptr && *at != nullptr && bytes != 0) {
      const std::size_t copied = std::min(text.size(), bytes - 1);
      std::memcpy(*at, text.data(), copied);
      static_cast<char*>(*at)[copied] = '\0';
      written = copied < text.size() && copied != 0 ? bytes : copied;
    }
    *room = reinterpret_cast<void*>(written);
  };
  put(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
      result == cudaSuccess ? information() : "");
  put(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
      result == cudaSuccess ? ""
      : refusal_.empty()    ? reason
                            : refusal_);
  // Of what is only loaded the driver gives no time.
  if (void** const at = value(CU_JIT_WALL_TIME); at != nullptr) {
    const float milliseconds =
        linked ? std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begun_)
                     .count()
               : 0;
    *at = nullptr;
    std::memcpy(at, &milliseconds, sizeof milliseconds);
  }
  if (void** const at = value(CU_JIT_THREADS_PER_BLOCK); at != nullptr) {
    *at = reinterpret_cast<void*>(
        static_cast<std::uintptr_t>(std::min(number(CU_JIT_THREADS_PER_BLOCK), kMostThreads)));
  }
}

}  // namespace lockstep::runtime
