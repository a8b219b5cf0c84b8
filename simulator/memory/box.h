// A block of memory as copies and fills describe it: slices of rows of bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {

// `depth` slices of `height` rows of `width` bytes. Rows start `pitch` bytes apart, slices `slice`
// bytes apart. Rows do not overlap.
struct Box {
  Address begin = 0;
  std::uint64_t width = 0, height = 1, depth = 1;
  std::uint64_t pitch = 0, slice = 0;

  static Box line(Address begin, std::uint64_t bytes) { return {begin, bytes, 1, 1, bytes, bytes}; }
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  // The same bytes with adjacent rows and slices merged: a box without gaps becomes a single row.
  Box merged() const {
    Box b = *this;
    if (b.height > 1 && b.pitch == b.width) {
      b.width *= b.height;
      b.height = 1;
    }
    if (b.depth > 1 && b.height == 1) {  // slices of one row each are rows
      b.height = b.depth;
      b.pitch = b.slice;
      b.depth = 1;
      if (b.pitch == b.width) {
        b.width *= b.height;
        b.height = 1;
      }
    }
    return b.height == 1 && b.depth == 1 ? line(b.begin, b.width) : b;
  }
  // The address behind the last byte.
  Address end() const { return begin + (depth - 1) * slice + (height - 1) * pitch + width; }
  // Whether any of the `size` bytes at `at` lies in the box.
  bool holds_any(Address at, std::uint64_t size) const {
    if (empty() || size == 0 || at >= end() || at + size <= begin) return false;
    // The first slice and row that end behind `at`.
    const std::uint64_t rows = (height - 1) * pitch + width;
    const auto first_behind = [at](Address from, std::uint64_t length, std::uint64_t step) {
      return at < from + length || step == 0 ? 0 : (at - from - length) / step + 1;
    };
    for (std::uint64_t z = first_behind(begin, rows, depth > 1 ? slice : 0); z < depth; ++z) {
      const Address at_slice = begin + z * slice;
      if (at_slice >= at + size) return false;
      const std::uint64_t y = first_behind(at_slice, width, height > 1 ? pitch : 0);
      if (y < height && at_slice + y * pitch < at + size) return true;
    }
    return false;
  }
  bool overlaps(const Box& other) const {
    if (empty() || other.empty() || begin >= other.end() || other.begin >= end()) return false;
    const bool fewer = height * depth <= other.height * other.depth;
    const Box &few = fewer ? *this : other, &many = fewer ? other : *this;
    for (std::uint64_t z = 0; z < few.depth; ++z) {
      for (std::uint64_t y = 0; y < few.height; ++y) {
        if (many.holds_any(few.begin + z * few.slice + y * few.pitch, few.width)) return true;
      }
    }
    return false;
  }
  // Whether this box and `other` are single rows, and `other` lies in this one.
  bool covers_line(const Box& other) const {
    return height == 1 && depth == 1 && other.height == 1 && other.depth == 1 &&
           begin <= other.begin && other.end() <= end();
  }
  bool operator==(const Box&) const = default;
};

}  // namespace lockstep::memory
