// Reference of copies through tensor maps: an index model. It derives from the coordinates of the
// box's elements which byte of the tensor's memory is at which byte of an image of shared memory.
// Loads, stores and reductions use it.
//
// Rules. Dimensions are counted from the innermost.
// - A tile: element i = (i0, i1, ...) of the box is the tensor's element at + i * steps, in all
//   dimensions but the innermost, whose step is one; there are ceil(box / steps) of them. The
//   elements with one (i1, i2, ...) are a row; rows lie one after the other, i1 fastest.
// - Interleaved: the unit of dimension 0 is a slice of 16 or 32 bytes, and has a step of its own.
//   The dimension before the last holds the slices of channels. A box has one of them.
// - im2col: a row is a pixel: `channels` elements from at[0]. The first pixel is at `at`. Others
//   follow in steps: the rest of its line, then lines, then planes, then the next image. In
//   dimension d the pixels go from lower to sizes + upper, the end excluded. Offsets are added to a
//   pixel's coordinates.
// - Outside of the tensor: an element with any coordinate beyond the tensor. Loads store the fill
//   there: zeros, or 0x7ff7 in every two bytes. Stores and reductions do not write such elements,
//   except in units of 16 bytes of a row that begin inside, which are written whole.
// - Swizzles of 32, 64 and 128 bytes: one, two or three bits of the place in shared memory, from
//   bit 4 up, are xored with as many bits from bit 7 up. A row narrower than the swizzle occupies
//   its whole span; the bytes between rows are not written. Sources: PTX ISA 9.0, 5.5 (tensors);
//   cuda.h of CUDA 13.0; golden/tensor_maps for what these do not specify.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>

namespace lockstep::reference {

using TensorBytes = Eigen::Array<std::uint8_t, Eigen::Dynamic, 1>;
using TensorPlaces = Eigen::Array<std::int64_t, Eigen::Dynamic, 1>;
using Coordinates =
    std::array<std::int64_t, 5>;  // innermost first; coordinates beyond the rank are ignored

struct TensorBox {
  std::int64_t rank = 1, element_bytes = 4;
  Coordinates sizes = {1, 1, 1, 1, 1}, steps = {1, 1, 1, 1, 1}, box = {1, 1, 1, 1, 1};
  std::array<std::int64_t, 4> strides = {};  // bytes
  std::int64_t slice_bytes = 0;              // 0: not interleaved
  std::int64_t swizzle_bytes = 0;            // 0, 32, 64, 128
  bool fill_with_nan = false;
  bool im2col = false;
  std::array<std::int64_t, 3> lower = {}, upper = {}, offsets = {};
  std::int64_t channels = 0, pixels = 0;
  std::int64_t to = 0;  // offset of the copy in the image
};

// copied_bytes: bytes that a copy moves. image_bytes: these up to a multiple of 128, and 128 more.
// memory_bytes: the tensor's memory, in whole units of 16 bytes.
std::int64_t copied_bytes(const TensorBox& b);
std::int64_t image_bytes(const TensorBox& b);
std::int64_t memory_bytes(const TensorBox& b);

// tensor_places() returns for every byte of an image the byte of the tensor's memory, or one of:
constexpr std::int64_t kOutsideOfTensor = -1;  // part of the copy, not of the tensor
constexpr std::int64_t kNotCopied = -2;
enum class TensorDirection : std::uint8_t { kLoad, kStore };
TensorPlaces tensor_places(const TensorBox& b, const Coordinates& at, TensorDirection direction);

// Returns the image after a load into shared memory whose bytes were `background`.
TensorBytes tensor_load(const TensorBox& b, const Coordinates& at,
                        std::span<const std::uint8_t> memory, std::uint8_t background);
// Stores the image to the memory.
void tensor_store(const TensorBox& b, const Coordinates& at, std::span<const std::uint8_t> image,
                  std::span<std::uint8_t> memory);
// memory = combine(memory, image), element by element, each of sizeof(T) == element_bytes
// (asserted).
template <class T, class Combine>
void tensor_reduce(const TensorBox& b, const Coordinates& at, std::span<const std::uint8_t> image,
                   std::span<std::uint8_t> memory, Combine combine);

// The address of a byte of shared memory after swizzling: its place with some bits xored.
std::int64_t swizzled(std::int64_t place, std::int64_t swizzle_bytes);

template <class T, class Combine>
void tensor_reduce(const TensorBox& b, const Coordinates& at, std::span<const std::uint8_t> image,
                   std::span<std::uint8_t> memory, Combine combine) {
  eigen_assert(static_cast<std::int64_t>(sizeof(T)) == b.element_bytes);
  const TensorPlaces places = tensor_places(b, at, TensorDirection::kStore);
  for (Eigen::Index i = 0; i < places.size(); i += sizeof(T)) {
    if (places[i] < 0) continue;
    T old, other;
    std::copy_n(memory.data() + places[i], sizeof(T), reinterpret_cast<std::uint8_t*>(&old));
    std::copy_n(image.data() + i, sizeof(T), reinterpret_cast<std::uint8_t*>(&other));
    const T result = combine(old, other);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&result), sizeof(T),
                memory.data() + places[i]);
  }
}

}  // namespace lockstep::reference
