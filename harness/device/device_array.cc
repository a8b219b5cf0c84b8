#include "harness/device/device_array.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/device/device.h"

namespace lockstep {
namespace {

constexpr std::size_t kAlignment =
    256;  // the least alignment of cudaMalloc, from which misalignment counts
// Smaller allocations are copied whole; of larger ones, only the necessary parts.
constexpr std::size_t kOneCopy = std::size_t{1} << 18;

std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

// Fills memory with a pattern that repeats a scalar, from the start of a scalar. Every part of a
// buffer starts at a scalar: misalignment counts elements, and the guards' sizes are multiples of
// eight.
void fill(unsigned char* begin, std::size_t bytes, std::uint64_t pattern) {
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) std::memcpy(begin + i, &pattern, 8);
  std::memcpy(begin + i, &pattern, bytes - i);
}

// Whether these bytes equal those that fill() would write.
bool filled(const unsigned char* begin, std::size_t bytes, std::uint64_t pattern) {
  std::uint64_t difference = 0, word = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    std::memcpy(&word, begin + i, 8);
    difference |= word ^ pattern;
  }
  for (std::size_t byte = 0; i < bytes; ++i, ++byte)
    difference |= begin[i] ^ static_cast<unsigned char>(pattern >> (8 * byte));
  return difference == 0;
}

// A temporary host buffer. It grows and is reused, because ten thousand cases use it.
unsigned char* scratch(std::size_t bytes) {
  static thread_local std::vector<unsigned char> memory;
  if (memory.size() < bytes) memory.resize(bytes);
  return memory.data();
}

// The bytes of a guard. On the simulated GPU a large one would show nothing more, and every page of
// it costs a page of device memory and several of shadow.
std::size_t guard_of(const Layout& layout) {
  if (is_simulator()) return kAlignment;
  return (std::max(layout.guard_bytes, kAlignment) + kAlignment - 1) / kAlignment * kAlignment;
}

void require(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess)
    fail_case({Reason::kCudaError, "", what + " failed with " + describe(error)});
}

}  // namespace

Domain<Poison> poisons() {
  return choice<Poison>({{"nan", Poison::kNaN},
                         {"huge", Poison::kHuge},
                         {"zeros", Poison::kZeros},
                         {"ones", Poison::kOnes}});
}

std::uint64_t poison_word(Poison poison, std::size_t scalar_bytes) {
  switch (poison) {
    case Poison::kZeros: return 0;
    case Poison::kOnes: return ~std::uint64_t{0};
    case Poison::kNaN:
      if (scalar_bytes == 8) return 0x7ffa5a5a5a5a5a5au;
      return scalar_bytes == 4   ? 0x7ffa5a5a7ffa5a5au
             : scalar_bytes == 2 ? 0x7e5a7e5a7e5a7e5au
                                 : 0xa5a5a5a5a5a5a5a5u;
    case Poison::kHuge:
      if (scalar_bytes == 8) return 0x7fda5a5a5a5a5a5au;
      return scalar_bytes == 4   ? 0x7f5a5a5a7f5a5a5au
             : scalar_bytes == 2 ? 0x7b5a7b5a7b5a7b5au
                                 : 0x7f7f7f7f7f7f7f7fu;
  }
  throw std::invalid_argument("poison_word: no such poison");
}

namespace detail {

DeviceBuffer::DeviceBuffer(std::string name, Role role, const void* host, std::size_t count,
                           Element element, const Layout& layout)
    : name_(std::move(name)),
      role_(role),
      poison_(layout.poison),
      element_(element),
      count_(count),
      bytes_(count * element.bytes) {
  if (!case_is_running()) throw std::logic_error("device array '" + name_ + "' outside of a case");
  if (layout.misalignment < 0)
    throw std::invalid_argument("device array '" + name_ + "': negative misalignment");
  pattern_ = poison_word(layout.poison, element.scalar_bytes);
  const std::size_t guard = guard_of(layout);
  const std::size_t shift = static_cast<std::size_t>(layout.misalignment) * element.bytes;
  left_ = guard + shift;
  right_ = is_simulator() ? left_ : guard;  // as wide as the other: check() copies both at once
  const std::size_t total = left_ + bytes_ + right_;
  void* memory = nullptr;
  if (const cudaError_t error = cudaMalloc(&memory, total); error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    not_run("out of device memory: '" + name_ + "' wants " + std::to_string(total) + " bytes");
  } else {
    require(error, "cudaMalloc of " + std::to_string(total) + " bytes for '" + name_ + "'");
  }
  base_ = static_cast<unsigned char*>(memory);
  if (reinterpret_cast<std::uintptr_t>(base_) % kAlignment != 0) {
    cudaFree(std::exchange(base_, nullptr));
    throw std::logic_error("cudaMalloc gave an address that is no multiple of 256");
  }
  data_ = base_ + left_;
  if (host)
    contents_.assign(static_cast<const unsigned char*>(host),
                     static_cast<const unsigned char*>(host) + bytes_);
  try {
    write_all();
    if (extension().name_buffer && extension().name_buffer(data_, bytes_, name_.c_str()) != 0) {
      throw std::logic_error("the simulator does not know the buffer '" + name_ +
                             "' that it has just allocated");
    }
  } catch (...) {
    cudaFree(base_);  // the destructor does not run after an exception here
    throw;
  }
}

DeviceBuffer::~DeviceBuffer() {
  if (base_) cudaFree(base_);
}

void DeviceBuffer::write_all() {
  const auto payload = [&](unsigned char* to) {
    if (role_ == Role::kOutput) {
      fill(to, bytes_, pattern_);
    } else if (bytes_) {
      std::memcpy(to, contents_.data(), bytes_);
    }
  };
  const std::string what = "writing '" + name_ + "'";
  if (left_ + bytes_ + right_ <= kOneCopy) {
    unsigned char* const image = scratch(left_ + bytes_ + right_);
    fill(image, left_, pattern_);
    payload(image + left_);
    fill(image + left_ + bytes_, right_, pattern_);
    require(cudaMemcpy(base_, image, left_ + bytes_ + right_, cudaMemcpyHostToDevice), what);
    require(static_cast<cudaError_t>(wait_for_copies()), what);
    return forget_poison();
  }
  unsigned char* const guard = scratch(std::max({left_, right_, kOneCopy}));
  fill(guard, left_, pattern_);
  require(cudaMemcpy(base_, guard, left_, cudaMemcpyHostToDevice), what);
  fill(guard, right_, pattern_);
  require(cudaMemcpy(base_ + left_ + bytes_, guard, right_, cudaMemcpyHostToDevice), what);
  reset();
}

void DeviceBuffer::reset() {
  const std::string what = "writing '" + name_ + "'";
  if (role_ != Role::kOutput) {
    if (bytes_) require(cudaMemcpy(data_, contents_.data(), bytes_, cudaMemcpyHostToDevice), what);
    require(static_cast<cudaError_t>(wait_for_copies()), what);
    return;
  }
  unsigned char* const image = scratch(std::min(bytes_, kOneCopy));
  fill(image, std::min(bytes_, kOneCopy), pattern_);
  for (std::size_t done = 0; done < bytes_; done += kOneCopy) {
    require(cudaMemcpy(base_ + left_ + done, image, std::min(kOneCopy, bytes_ - done),
                       cudaMemcpyHostToDevice),
            what);
  }
  require(static_cast<cudaError_t>(wait_for_copies()), what);
  forget_poison();
}

void DeviceBuffer::take(const DeviceBuffer& other, CUstream_st* stream) {
  if (role_ == Role::kOutput || other.role_ == Role::kOutput)
    throw std::logic_error("'" + name_ + "' cannot take what '" + other.name_ + "' holds");
  const std::size_t bytes = std::min(bytes_, other.bytes_);
  std::copy_n(other.contents_.begin(), bytes, contents_.begin());
  if (bytes == 0) return;
  require(cudaMemcpyAsync(data_, other.data_, bytes, cudaMemcpyDeviceToDevice, stream),
          "writing '" + name_ + "'");
}

// The simulator regards an output as unwritten, so that it reports a kernel that reads the output
// first.
void DeviceBuffer::forget_poison() {
  if (role_ != Role::kOutput || bytes_ == 0 || !extension().mark_unwritten) return;
  if (extension().mark_unwritten(data_, bytes_) != 0) {
    throw std::logic_error("the simulator does not know the buffer '" + name_ +
                           "' that it has allocated");
  }
}

void DeviceBuffer::fetch(void* host) const {
  require(cudaDeviceSynchronize(), "waiting for '" + name_ + "'");
  if (bytes_)
    require(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost), "fetching '" + name_ + "'");
  if (role_ != Role::kInput) note_output(host, bytes_);
}

bool DeviceBuffer::holds_poison(const void* element) const {
  return role_ == Role::kOutput &&
         filled(static_cast<const unsigned char*>(element), element_.bytes, pattern_);
}

std::optional<Failure> DeviceBuffer::check() {
  const std::string what = "reading '" + name_ + "' back";
  const bool input = role_ == Role::kInput;
  const std::size_t total = left_ + bytes_ + right_;
  const auto copy = [&](unsigned char* to, const unsigned char* from,
                        std::size_t bytes) -> std::optional<Failure> {
    const cudaError_t error =
        bytes ? cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) : cudaSuccess;
    if (error == cudaSuccess) return std::nullopt;
    return Failure{Reason::kCudaError, "", what + " failed with " + describe(error)};
  };
  if (total <= kOneCopy && !input && is_simulator()) {
    // Elements that no thread has written stay unread: the simulator would report their copy.
    unsigned char* const guards = scratch(left_ + right_);
    if (const cudaError_t error =
            cudaMemcpy2D(guards, left_, base_, left_ + bytes_, left_, 2, cudaMemcpyDeviceToHost);
        error != cudaSuccess)
      return Failure{Reason::kCudaError, "", what + " failed with " + describe(error)};
    if (auto failed = compare_guard(guards + left_, right_, true)) return failed;
    return compare_guard(guards, left_, false);
  }
  if (total <= kOneCopy) {
    unsigned char* const image = scratch(total);
    if (auto failed = copy(image, base_, total)) return failed;
    if (auto failed = compare_guard(image + left_ + bytes_, right_, true)) return failed;
    if (auto failed = compare_guard(image, left_, false)) return failed;
    return input ? compare_input(image + left_) : std::nullopt;
  }
  unsigned char* const image = scratch(std::max({left_, right_, input ? bytes_ : 0}));
  if (auto failed = copy(image, base_ + left_ + bytes_, right_)) return failed;
  if (auto failed = compare_guard(image, right_, true)) return failed;
  if (auto failed = copy(image, base_, left_)) return failed;
  if (auto failed = compare_guard(image, left_, false)) return failed;
  if (!input) return std::nullopt;
  if (auto failed = copy(image, base_ + left_, bytes_)) return failed;
  return compare_input(image);
}

std::optional<Failure> DeviceBuffer::compare_guard(const unsigned char* begin, std::size_t bytes,
                                                   bool right) const {
  if (filled(begin, bytes, pattern_)) return std::nullopt;
  // Reports the changed byte nearest to the array, which best explains the mistake.
  std::size_t nearest = 0, changed = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (begin[i] == static_cast<unsigned char>(pattern_ >> (8 * (i % 8)))) continue;
    if (changed == 0 || !right) nearest = i;
    ++changed;
  }
  const std::size_t distance =
      right ? nearest : bytes - 1 - nearest;               // whole bytes between it and the array
  const std::size_t elements = distance / element_.bytes;  // whole elements likewise
  const std::string index =
      right ? std::to_string(count_ + elements) : "-" + std::to_string(elements + 1);
  std::string message = std::string("the guard ") + (right ? "after" : "before") + " '" + name_ +
                        "' was changed: " + std::to_string(changed) + " byte" +
                        (changed == 1 ? "" : "s") + ", the nearest " +
                        std::to_string(distance + 1) +
                        (right ? " past the end" : " before the start");
  const std::size_t start =
      right ? elements * element_.bytes : bytes - (elements + 1) * element_.bytes;
  if ((right || bytes >= (elements + 1) * element_.bytes) && start + element_.bytes <= bytes) {
    std::vector<unsigned char> now(begin + start, begin + start + element_.bytes),
        before(element_.bytes);
    fill(before.data(), before.size(), pattern_);
    message += "; element [" + index + "] of " + std::to_string(count_) + " now holds " +
               element_.text(now.data()) + ", not the guard's " + element_.text(before.data());
  }
  return Failure{Reason::kGuard, "", message};
}

std::optional<Failure> DeviceBuffer::compare_input(const unsigned char* now) const {
  if (bytes_ == 0 || std::memcmp(now, contents_.data(), bytes_) == 0) return std::nullopt;
  std::size_t first = bytes_, changed = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (std::memcmp(now + i * element_.bytes, contents_.data() + i * element_.bytes,
                    element_.bytes) == 0)
      continue;
    first = std::min(first, i);
    ++changed;
  }
  return Failure{Reason::kInputChanged, "",
                 "input '" + name_ + "' was changed: " + std::to_string(changed) + " of " +
                     std::to_string(count_) + " elements, the first [" + std::to_string(first) +
                     "] from " + element_.text(contents_.data() + first * element_.bytes) + " to " +
                     element_.text(now + first * element_.bytes)};
}

}  // namespace detail
}  // namespace lockstep
