// The arguments of a launcher as data: the legal values of an integer, and the memory behind an
// array during a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/refusal.h"

namespace lockstep {

// Holds every 64-bit integer, signed or unsigned, and the values next to them.
__extension__ using Whole = __int128;

// The legal values of an integer argument: `least`, least + step, ... up to `most`. If `only` is
// not empty, the legal values are those of `only` instead, in ascending order.
struct Range {
  Whole least = 0, most = 0, step = 1;
  std::vector<Whole> only = {};
  // The legal values that fit the other arguments of this case; empty: all. A launcher may accept
  // or refuse the other legal values in this case.
  std::vector<Whole> here = {};
  bool contains(Whole value) const;
};

// An integer or enumeration argument, with every place in memory that holds it.
struct IntegerArgument {
  struct Place {
    void* at;
    std::size_t bytes;
  };
  std::string name;
  Range legal;
  Whole type_least, type_most;
  std::vector<Place> places;
  bool extends = true;  // a larger value may make arrays longer

  void set(Whole value) const;  // cuts `value` to the size of the type
  // Values that a launcher must refuse: those next to the legal range, and the ends of the type. No
  // duplicates.
  std::vector<Whole> refused() const;
  // Values that a launcher must accept: the ends of the legal range, values that need more than 31
  // or 32 bits, and larger round values such as 2^40. No duplicates.
  std::vector<Whole> promised() const;
  Whole get() const;  // reads the first place
};

// The elements of a device array that the launcher may access. If the count is 0, the launcher does
// no work on the array, and the pointer may be null.
struct Footprint {
  std::int64_t count = 0;              // elements from the argument's address on
  std::int64_t before = 0, after = 0;  // elements in front of these, and behind them
  std::int64_t room = 0;               // elements allocated, if more; for outputs and host arrays
  std::size_t alignment = 0;           // in bytes; 0: the alignment of the element type
};

using Bytes = std::vector<std::byte>;

namespace detail {

template <class T>
Bytes bytes_of(const std::vector<T>& v) {
  Bytes bytes(v.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), v.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> elements_of(const Bytes& bytes) {
  std::vector<T> v(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(v.data(), bytes.data(), bytes.size());
  return v;
}

// The memory behind an array argument for the duration of a call.
struct HeldArray {
  virtual ~HeldArray() = default;
  virtual void require_untouched(const Site& site) const = 0;
  // Prepares another launch. Copies the contents of `other`, an array of another call with as many
  // elements; an output stays as it is. Copies to device memory are in stream order; the host does
  // not wait.
  virtual void take(const HeldArray& other, CUstream_st* stream) = 0;
  virtual void poison() = 0;
  // The present contents; waits for the device.
  virtual Bytes bytes() const = 0;
  virtual bool on_host() const { return false; }
};

template <class T>
struct HeldDeviceArray final : HeldArray {
  HeldDeviceArray(DeviceArray<T> array, std::vector<T> first)
      : array(std::move(array)), first(std::move(first)) {}
  // The harness checks an input's bytes when the case ends.
  void require_untouched(const Site& site) const override {
    if (role == Role::kOutput) lockstep::require_untouched(site, array);
    if (role == Role::kInOut) require_bitwise_equal(site, array, first);
  }
  void take(const HeldArray& other, CUstream_st* stream) override {
    if (role == Role::kOutput) return;
    const auto& from = dynamic_cast<const HeldDeviceArray&>(other);
    array.take(from.array, stream);
    std::copy_n(from.first.begin(), std::min(from.first.size(), first.size()), first.begin());
  }
  void poison() override {
    if (role == Role::kOutput) array.repoison();
  }
  Bytes bytes() const override { return bytes_of(array.fetch()); }

  Role role = Role::kOutput;
  DeviceArray<T> array;
  std::vector<T> first;  // the first contents of an in-out array
};

template <class T>
struct HeldHostArray final : HeldArray {
  explicit HeldHostArray(std::vector<T> contents) : array(std::move(contents)), first(array) {}
  void require_untouched(const Site& site) const override {
    if (array != first)
      fail_at(site, Reason::kLaw, "nothing may be written, but an array of the host was");
  }
  void take(const HeldArray& other, CUstream_st*) override {
    const std::vector<T>& from = dynamic_cast<const HeldHostArray&>(other).first;
    std::copy_n(from.begin(), std::min(from.size(), first.size()), first.begin());
    std::ranges::copy(first, array.begin());  // keeps the address
  }
  void poison() override {}
  Bytes bytes() const override { return bytes_of(array); }
  bool on_host() const override { return true; }
  std::vector<T> array, first;
};

}  // namespace detail

struct ArrayArgument {
  std::string name;
  Role role;
  Footprint footprint;
  std::size_t element_bytes = 1, element_type = 0;  // the type's hash_code()
  void* place;                                      // where the pointer is stored
  // Makes the array for a legal case. Returns it with the address for the argument.
  using Make = std::function<std::pair<std::shared_ptr<detail::HeldArray>, const void*>()>;
  Make make;
  std::shared_ptr<detail::HeldArray> held;

  std::uintptr_t get() const;
  void set(std::uintptr_t address) const;
  std::uintptr_t begin() const;  // the bytes that the launcher may access
  std::uintptr_t end() const;
};

// A part of an array after a stride or an offset has changed. Elements [first, first + count) of
// the case's array then start at element `to`, counted from the argument's address.
struct Piece {
  std::int64_t first = 0, count = 0, to = 0;
};

// An argument that decides where the parts of an array lie, such as a row stride or an offset.
struct Spread {
  std::string array, name;  // the array, and the changed argument: "a.stride"
  Range legal;              // values that fit the other arguments of the case
  // Sets the argument to `value`. Returns the new places of all elements that the launcher may
  // access. The pieces must not overlap.
  std::function<std::vector<Piece>(std::int64_t value)> place;
};

// An array that grows with an integer argument: `each` elements for each unit of the integer, in
// `rows` rows, `stride` elements apart. A longer row keeps the gap that follows the case's row.
struct Line {
  std::string array;
  std::int64_t each = 1, rows = 1, stride = 0;
};

// An integer that sets the length of a call. Each block of the grid processes `block` units of it.
// If it grows by a multiple of `period` and the end of the data is the same, the last block does
// the same work.
struct Lengthening {
  std::string integer;
  std::int64_t block = 1, period = 1;
  Whole most = 0;
  std::vector<Line> lines;
  std::function<void(std::int64_t value)> also;  // sets dependent arguments, such as strides
};

// An argument that does not affect the results, with the values to try. Empty: the values of
// IntegerArgument::promised().
struct Immaterial {
  std::string integer;
  std::vector<Whole> values;
};

// Optional host memory in which a launcher reports its work.
struct Report {
  std::string name;
  // Passes such memory to the launcher, filled with the byte `junk`.
  std::function<void(unsigned char junk)> hand_over;
  std::function<std::string()> text;  // the present contents as text
};

// A device variable that a launcher reads or writes besides its arrays, with the host's access to
// it. `contents` returns its value before the launch of a legal case.
struct Variable {
  std::string name;
  std::function<Bytes()> contents, read;
  std::function<void(const Bytes&)> write;
};

}  // namespace lockstep
