// An argument of a launcher as data: its legal values and, for an array, the memory behind it
// during a call.
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

// Any integer of up to 64 bits, signed or not, and its neighbours.
__extension__ using Whole = __int128;

// What an integer argument may be: from `least` to `most`, both legal, in steps; or, where `only`
// is not empty, one of those, in ascending order.
struct Range {
  Whole least = 0, most = 0, step = 1;
  std::vector<Whole> only = {};
  // Where not empty: those that go with all other arguments of the case. The others are legal
  // elsewhere; here they need neither be taken nor refused.
  std::vector<Whole> here = {};
  bool contains(Whole value) const;
};

// An integer argument or an enumeration, in all the places that hold it.
struct IntegerArgument {
  struct Place {
    void* at;
    std::size_t bytes;
  };
  std::string name;
  Range legal;
  Whole type_least, type_most;
  std::vector<Place> places;
  bool extends = true;  // arrays may reach further with a larger value

  void set(Whole value) const;  // within the type
  // Values of its type next to the legal ones, then far from them, that a launcher must refuse; no
  // duplicates.
  std::vector<Whole> refused() const;
  // Values that it must take: the ends of what is legal, what 31 and 32 bits no longer hold, and
  // round values between them and the end, such as 2^40; no duplicates.
  std::vector<Whole> promised() const;
  Whole get() const;  // of the first place
};

// Of an array: what the launcher may touch, in elements of the device array. With a count of 0
// there is no work for the array, and it may be null.
struct Footprint {
  std::int64_t count = 0;              // from where the argument points
  std::int64_t before = 0, after = 0;  // and around that
  std::int64_t room =
      0;  // of an output or the host's memory: elements there are, where those are more
  std::size_t alignment = 0;  // bytes; 0: the element type's
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

// The array that stands behind an argument while a call lives.
struct HeldArray {
  virtual ~HeldArray() = default;
  virtual void require_untouched(const Site& site) const = 0;
  // Before another launch: an output holds its poison again, any other array what `other` holds,
  // which was made for another call on as many elements. Device memory that is read is written in
  // stream order, and nothing is waited for.
  virtual void take(const HeldArray& other, CUstream_st* stream) = 0;
  virtual void poison() = 0;
  // What it holds now; waits for the device.
  virtual Bytes bytes() const = 0;
  virtual bool on_host() const { return false; }
};

template <class T>
struct HeldDeviceArray final : HeldArray {
  HeldDeviceArray(DeviceArray<T> array, std::vector<T> first)
      : array(std::move(array)), first(std::move(first)) {}
  // An input's bytes are looked at when the case ends.
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
  std::vector<T> first;  // of an array that goes in and out
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
    std::ranges::copy(first, array.begin());  // where it is
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
  std::size_t element_bytes = 1, element_type = 0;  // the type: typeid's hash
  void* place;                                      // the pointer
  // Makes the array for a legal case, and where the argument then points.
  std::function<std::pair<std::shared_ptr<detail::HeldArray>, const void*>()> make;
  std::shared_ptr<detail::HeldArray> held;

  std::uintptr_t get() const;
  void set(std::uintptr_t address) const;
  std::uintptr_t begin() const;  // of the bytes that the launcher may touch
  std::uintptr_t end() const;
};

// A piece of an array whose launcher gets another stride or offset than the case has. Elements
// [first, first + count) of the case's array start at element `to`, counted from where the argument
// points.
struct Piece {
  std::int64_t first = 0, count = 0, to = 0;
};

// How far an array reaches is an argument's to say: a stride between its rows, an offset.
struct Spread {
  std::string array, name;  // of the array, and of what is exchanged: "a.stride"
  Range legal;              // that goes with the case
  // Gives the arguments this value, and returns where all that the launcher may touch then lies. No
  // piece overlaps another.
  std::function<std::vector<Piece>(std::int64_t value)> place;
};

// An array that is longer where an integer argument is: `each` elements for one of what the integer
// counts, in `rows` rows that begin `stride` elements apart. A longer row is followed by as much
// that belongs to nobody as the case's.
struct Line {
  std::string array;
  std::int64_t each = 1, rows = 1, stride = 0;
};

// An integer that gives the length of a call; each block of the grid processes `block` of it. If it
// grows by a multiple of `period`, with the same contents at the end, the last block does the same
// work as before.
struct Lengthening {
  std::string integer;
  std::int64_t block = 1, period = 1;
  Whole most = 0;
  std::vector<Line> lines;
  std::function<void(std::int64_t value)> also;  // sets what follows from it, such as strides
};

// An argument that no result depends on, and the values it is given; none: those that the contract
// promises.
struct Immaterial {
  std::string integer;
  std::vector<Whole> values;
};

// Memory of the host that a launcher fills in with what it did, where the caller gives any.
struct Report {
  std::string name;
  // Gives the launcher such memory, filled with the byte `junk`.
  std::function<void(unsigned char junk)> hand_over;
  std::function<std::string()> text;  // of what it holds now
};

// A variable of the device that a launcher reads or writes besides its arrays, as the host gets at
// it. `contents` is what it holds before the launch of a legal case.
struct Variable {
  std::string name;
  std::function<Bytes()> contents, read;
  std::function<void(const Bytes&)> write;
};

}  // namespace lockstep
