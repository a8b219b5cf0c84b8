// Device buffers under the memory contract: guard bytes on both sides, a chosen misalignment,
// outputs poisoned before the launch, and inputs that must stay unchanged. Only the harness makes
// device buffers.
//
// Buffers belong to the running case. When its body ends, the guards of every buffer and the bytes
// of every input are checked. On the simulated GPU the guards are out of bounds for kernels
// (extension.h, lockstepNameBuffer), which also detects reads of them. On silicon, a read of a
// guard returns poison, which the result may show.
//
// Errors: without enough device memory the property ends as NOT_RUN; any other CUDA error fails the
// case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/property/case.h"
#include "harness/property/element.h"
#include "harness/property/field.h"

struct CUstream_st;  // cudaStream_t points to it

namespace lockstep {

// The contents of an output, and of every guard, before the launch: a pattern of the element's
// scalar size (1, 2, 4 or 8 bytes).
enum class Poison : std::uint8_t {
  // A quiet NaN that no arithmetic produces: 0x7ffa5a5a for float. Integers have the same bits,
  // bytes 0xa5.
  kNaN,
  kHuge,   // finite and near the top of the range: 0x7f5a5a5a for float (2.9e38)
  kZeros,  // all bits 0: shows reads and gaps that a NaN would hide in integer code
  kOnes,   // all bits 1
};
Domain<Poison> poisons();  // "nan", "huge", "zeros", "ones"; shrinks toward nan

struct Layout {
  int misalignment = 0;  // elements past a 256-byte boundary, 0 ... 31 and more
  Poison poison = Poison::kNaN;
  // On each side, at least; never less than 256. On the simulated GPU it is 256: allocations are
  // further apart there than any guard, and every access to a guard or between allocations is
  // reported.
  std::size_t guard_bytes = 4096;
};

enum class Role : std::uint8_t { kInput, kOutput, kInOut };

// The bits of a poison for a scalar of 1, 2, 4 or 8 bytes, repeated to fill 64 bits.
std::uint64_t poison_word(Poison poison, std::size_t scalar_bytes);

namespace detail {

// The part of a device array that is independent of its element type.
class DeviceBuffer final : public Buffer {
 public:
  struct Element {
    std::size_t bytes, scalar_bytes;
    std::string (*text)(const void* element);
  };
  // `host` holds `count` elements; null for an output.
  DeviceBuffer(std::string name, Role role, const void* host, std::size_t count, Element element,
               const Layout& layout);
  ~DeviceBuffer() override;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  std::optional<Failure> check() override;
  void fetch(void* host) const;
  void reset();  // poisons an output; restores the first contents of an in-out buffer
  // Copies the contents that `other`, an input or in-out buffer, was given, cut to this buffer's
  // size, in stream order. They replace this buffer's own given contents: an input must hold them
  // when the case ends.
  void take(const DeviceBuffer& other, CUstream_st* stream);
  bool holds_poison(const void* element) const;

  const std::string& name() const { return name_; }
  Role role() const { return role_; }
  Poison poison() const { return poison_; }
  std::size_t size() const { return count_; }
  void* data() const { return data_; }

 private:
  void write_all();
  void forget_poison();
  std::optional<Failure> compare_guard(const unsigned char* begin, std::size_t bytes,
                                       bool right) const;
  std::optional<Failure> compare_input(const unsigned char* now) const;

  std::string name_;
  Role role_;
  Poison poison_;
  Element element_;
  std::size_t count_ = 0, bytes_ = 0;
  std::size_t left_ = 0, right_ = 0;  // bytes of the guards; left_ includes the misalignment
  std::uint64_t pattern_ = 0;         // the poison; its byte k is at data_ + k
  unsigned char* base_ = nullptr;     // from cudaMalloc
  void* data_ = nullptr;
  std::vector<unsigned char> contents_;  // the bytes given for an input or in-out buffer
};

}  // namespace detail

template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "device arrays hold plain data");

 public:
  static DeviceArray input(std::string name, std::span<const T> host, const Layout& layout) {
    return DeviceArray(std::move(name), Role::kInput, host.data(), host.size(), layout);
  }
  static DeviceArray output(std::string name, std::size_t count, const Layout& layout) {
    return DeviceArray(std::move(name), Role::kOutput, nullptr, count, layout);
  }
  static DeviceArray in_out(std::string name, std::span<const T> host, const Layout& layout) {
    return DeviceArray(std::move(name), Role::kInOut, host.data(), host.size(), layout);
  }

  // The device pointer. It is valid, and misaligned as requested, even if size() is 0.
  T* data() const { return static_cast<T*>(buffer_->data()); }
  std::size_t size() const { return buffer_->size(); }
  // Synchronises with the device and copies to the host.
  std::vector<T> fetch() const {
    std::vector<T> host(size());
    buffer_->fetch(host.data());
    return host;
  }
  // Whether the bytes of this element of an output equal the poison: it looks unwritten, but a
  // written element may equal it by chance.
  bool holds_poison(std::size_t /*index*/, const T& value) const {
    return buffer_->holds_poison(&value);
  }
  // Whether the poison proves a wrong element unwritten. True if no kernel computes the pattern by
  // chance, as it may compute zeros.
  bool poison_is_proof() const {
    return buffer_->role() == Role::kOutput && kScalarBytes<T> > 1 &&
           (buffer_->poison() == Poison::kNaN || buffer_->poison() == Poison::kHuge);
  }
  // Whether the poison proves any element unwritten. kHuge does not: a correct finite result may
  // equal it, once in some 10^10 results.
  bool poison_is_no_result() const {
    return poison_is_proof() && buffer_->poison() == Poison::kNaN;
  }
  const std::string& name() const { return buffer_->name(); }
  // Poisons an output before another launch of the case; restores the first contents of an in-out
  // array.
  void repoison() { buffer_->reset(); }
  // Copies the contents of `other`, cut to this array's size, to an array that the kernel reads, in
  // stream order.
  void take(const DeviceArray& other, CUstream_st* stream) {
    buffer_->take(*other.buffer_, stream);
  }

  DeviceArray(DeviceArray&&) noexcept = default;
  DeviceArray& operator=(DeviceArray&&) noexcept = default;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

 private:
  DeviceArray(std::string name, Role role, const T* host, std::size_t count, const Layout& layout)
      : buffer_(std::make_shared<detail::DeviceBuffer>(
            std::move(name), role, host, count,
            detail::DeviceBuffer::Element{sizeof(T), kScalarBytes<T>, &detail::text_of<T>},
            layout)) {
    own_buffer(buffer_);
  }

  std::shared_ptr<detail::DeviceBuffer> buffer_;
};

}  // namespace lockstep
