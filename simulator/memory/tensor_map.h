// Tensor maps: the 128 opaque bytes that cuTensorMapEncodeTiled, ...Im2col and ...Im2colWide make,
// and the memory that a copy through a map accesses.
//
// The layout of the bytes is the simulated GPU's own. Programs copy the bytes and pass them to
// kernels; tensormap.replace changes single fields. One bit is free for programs: CuTe clears it in
// the maps of small tensors, to avoid a mistake of drivers up to CUDA 13.1
// (include/cute/atom/copy_traits_sm90_tma.hpp).
//
// The refused arguments, and every rule of the walk below that cuda.h leaves open, are those of an
// NVIDIA H100 (golden/tensor_maps). The additions of Blackwell follow the sources below: packed
// types, swizzles of other atoms, im2col along one dimension, four rows. Source: cuda.h of CUDA
// 13.0; PTX ISA 9.0, 5.5 (tensors).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::memory {

// In the order of CUtensorMapDataType.
enum class TensorType : std::int32_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBF16,
  kF32Ftz,
  kTF32,
  kTF32Ftz,
  // Sixteen elements of 4 or 6 bits side by side, at multiples of 8 or 16 bytes in shared memory.
  k16U4Align8,
  k16U4Align16,
  k16U6Align16
};

// The kind of a copy's coordinates, and so of the maps that it may use.
enum class TensorMode : std::uint8_t { kTile, kFourRows, kIm2col, kIm2colW, kIm2colW128 };

struct TensorMap {
  static constexpr std::size_t kBytes = 128, kAlignment = 64;
  static constexpr std::uint32_t kMostDimensions = 5;
  // The bit of a 64-bit word of the map that has no meaning and may be changed.
  static constexpr std::size_t kUnusedWord = 1, kUnusedBit = 21;

  // Values of the driver's enumerations, unchecked so that invalid ones can be reported.
  std::int32_t type = 0;
  std::int32_t interleave = 0;  // none, slices of 16 bytes, of 32 bytes
  std::int32_t swizzle = 0;     // none, 32, 64, 128, 96 bytes
  std::int32_t atom =
      0;  // with a swizzle of 128 bytes, the unit that is moved: 16, 32, 32 flipped, 64 bytes
  std::int32_t promotion = 0;  // a hint
  std::int32_t fill = 0;       // for elements outside of the tensor: zeros, NaN
  bool im2col = false;
  std::int32_t wide = 0;  // im2col: 1 along W only, 2 also with 128 pixels at a time
  std::uint32_t rank = 0;
  std::uint64_t address = 0;
  // Innermost dimension first. strides[d] is the stride of dimension d + 1, in bytes.
  std::uint64_t sizes[kMostDimensions] = {};
  std::uint64_t strides[kMostDimensions - 1] = {};
  std::uint32_t steps[kMostDimensions] = {};  // elementStrides
  std::uint32_t box[kMostDimensions] = {};    // tiles
  // im2col: the corners of the box that pixels come from, for each spatial dimension; the elements
  // of a pixel; the pixels of a copy.
  std::int32_t lower[3] = {}, upper[3] = {};
  std::uint32_t channels = 0, pixels = 0;

  bool operator==(const TensorMap&) const = default;

  bool packed() const { return type >= static_cast<std::int32_t>(TensorType::k16U4Align8); }
  bool padded() const { return type > static_cast<std::int32_t>(TensorType::k16U4Align8); }
  std::uint32_t element_bits() const;  // in global memory
  std::uint32_t element_bytes() const { return std::max(1u, element_bits() / 8); }
  std::uint32_t slice_bytes() const { return interleave == 2 ? 32 : 16; }
  // The bits of one step along the innermost dimension: one element, or one slice of channels if
  // interleaved. In shared memory, each padded element occupies a byte of a 16-byte group.
  std::uint32_t unit_bits() const { return interleave != 0 ? 8 * slice_bytes() : element_bits(); }
  std::uint32_t shared_element_bits() const { return padded() ? 8 : element_bits(); }
  std::uint32_t shared_unit_bits() const {
    return interleave != 0 ? 8 * slice_bytes() : shared_element_bits();
  }
  // The dimension of an interleaved tensor's slices of channels, the second outermost. Each copy
  // moves one slice.
  std::uint32_t slice_dimension() const { return rank - 2; }
  // im2col: the first spatial dimension, and the number of spatial dimensions.
  std::uint32_t first_spatial() const { return interleave != 0 ? 0 : 1; }
  std::uint32_t spatial() const { return rank - 2; }

  // A copy consists of rows of units that are adjacent in shared memory. Rows are `pitch` bytes
  // apart, which is more than a row's size if the swizzle is wider.
  std::uint32_t row_units() const;
  std::uint32_t rows() const;
  std::uint32_t row_bytes() const { return row_units() * shared_unit_bits() / 8; }
  std::uint32_t pitch() const;
  // The bytes of `rows` rows that the mbarrier counts as complete: padding does not count.
  std::uint32_t copied_bytes(std::uint32_t rows) const {
    return rows * (row_units() * unit_bits() / 8);
  }
  std::uint32_t copied_bytes() const { return copied_bytes(rows()); }
  // The bytes of shared memory that `rows` rows occupy, rounded up to whole swizzle spans. Some of
  // these bytes may not belong to the copy.
  std::uint32_t covered_bytes(std::uint32_t rows) const;
  std::uint32_t covered_bytes() const { return covered_bytes(rows()); }
  // The address in shared memory of byte `offset` of the rows. `to` is the address of byte 0.
  std::uint32_t place(std::uint32_t to, std::uint32_t offset) const;
  // Whether the swizzle exchanges the two halves of the 16 bytes at `place`.
  bool turned(std::uint32_t place) const { return swizzle == 3 && atom == 2 && place >> 7 & 1; }
};

// The reason why the driver refuses a map on a device of compute capability `sm` (10 * major +
// minor). Empty if it accepts the map.
std::string refusal(const TensorMap& map, int sm = 90);

void encode(const TensorMap& map, std::byte* bytes);
// nullopt if the bytes are no tensor map or were changed by ordinary stores.
std::optional<TensorMap> decode(const std::byte* bytes);
// The same for tensormap.replace, which also accepts 128 bytes of zeros. They are a tile map with
// one dimension at address 0, with sizes, box and steps of 1, bytes as elements and strides of 0,
// as on an H100.
std::optional<TensorMap> decode_or_blank(const std::byte* bytes);

// How a copy uses a map.
struct TensorAccess {
  TensorMode mode = TensorMode::kTile;
  // Coordinates, innermost first. For four rows: the common coordinate, then the number of each
  // row.
  std::int32_t at[TensorMap::kMostDimensions] = {};
  // im2col: offsets. Along one dimension: the number of halo pixels, then the offset.
  std::uint16_t offsets[3] = {};
  bool writes = false;      // to global memory
  bool to_cluster = false;  // to .shared::cluster
  int sm = 90;
};
// The reason why no copy of this mode can use the map. Empty if copies can.
std::string mismatch(const TensorMap& map, TensorMode mode);
// The reason why this copy is refused. Empty if it is allowed.
std::string refusal(const TensorMap& map, const TensorAccess& access);

// The rows of a copy, in their order in shared memory.
class TensorRows {
 public:
  TensorRows(const TensorMap& map, const TensorAccess& access);
  std::uint32_t count() const;
  // The address of the unit with coordinate 0 in the innermost dimension. It may lie outside of the
  // row.
  std::uint64_t base() const;
  // Whether all coordinates but the innermost lie in the tensor.
  bool inside() const;
  // The coordinate of unit `n` in the innermost dimension.
  std::int64_t coordinate(std::uint32_t n) const;
  void next();

 private:
  std::int64_t offset(std::uint32_t d) const;
  void go_along(std::uint32_t row);

  const TensorMap& map_;
  const TensorAccess access_;
  std::uint32_t row_ = 0;
  std::int64_t at_[TensorMap::kMostDimensions] = {}, first_[TensorMap::kMostDimensions] = {};
  std::uint32_t done_[TensorMap::kMostDimensions] = {};
};

// The bits that a load stores for an element. Rounds TF32. Does not flush subnormals for the FTZ
// type, as on silicon.
std::uint32_t loaded_word(TensorType type, std::uint32_t bits);

}  // namespace lockstep::memory
