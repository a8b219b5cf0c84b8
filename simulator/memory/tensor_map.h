// Tensor maps: what cuTensorMapEncodeTiled, ...Im2col and ...Im2colWide make of their arguments,
// 128 opaque bytes, and what a copy through one touches.
//
// The layout of the bytes is the simulated GPU's own. Programs copy them and hand them to kernels;
// tensormap.replace changes single fields. One bit of them belongs to programs: CuTe clears it in
// the maps of small tensors, to keep a mistake of drivers up to CUDA 13.1 from them
// (include/cute/atom/copy_traits_sm90_tma.hpp).
// Which arguments are refused, and every rule of the walk below that cuda.h leaves open, is as an
// NVIDIA H100 has it (golden/tensor_maps). What came with Blackwell is as the two say that follow:
// packed types, swizzles of other atoms, im2col along one dimension, four rows.
// Source: cuda.h of CUDA 13.0; PTX ISA 9.0, 5.5 (tensors).
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
  // Sixteen elements of 4 or 6 bits side by side, in shared memory at multiples of 8 or 16 bytes.
  k16U4Align8,
  k16U4Align16,
  k16U6Align16
};

// What a copy's coordinates are of, and so which maps it goes through.
enum class TensorMode : std::uint8_t { kTile, kFourRows, kIm2col, kIm2colW, kIm2colW128 };

struct TensorMap {
  static constexpr std::size_t kBytes = 128, kAlignment = 64;
  static constexpr std::uint32_t kMostDimensions = 5;
  // The bit of a 64-bit word of the bytes that means nothing, and may be changed.
  static constexpr std::size_t kUnusedWord = 1, kUnusedBit = 21;

  // Numbers of the driver's enumerations, kept unchecked so that invalid ones can be reported.
  std::int32_t type = 0;
  std::int32_t interleave = 0;  // none, slices of 16 bytes, of 32 bytes
  std::int32_t swizzle = 0;     // none, 32, 64, 128, 96 bytes
  std::int32_t atom = 0;        // of 128 bytes: what stays together: 16, 32, 32 turned, 64 bytes
  std::int32_t promotion = 0;   // a hint
  std::int32_t fill = 0;        // outside of the tensor: zeros, NaN
  bool im2col = false;
  std::int32_t wide = 0;  // of im2col: 1 along W alone, 2 likewise and 128 pixels at a time
  std::uint32_t rank = 0;
  std::uint64_t address = 0;
  // Innermost dimension first. strides[d], in bytes, is that of dimension d + 1.
  std::uint64_t sizes[kMostDimensions] = {};
  std::uint64_t strides[kMostDimensions - 1] = {};
  std::uint32_t steps[kMostDimensions] = {};  // elementStrides
  std::uint32_t box[kMostDimensions] = {};    // tiles
  // Of im2col: corners of the box that pixels are taken from, of each spatial dimension; elements
  // of a pixel; pixels of a copy.
  std::int32_t lower[3] = {}, upper[3] = {};
  std::uint32_t channels = 0, pixels = 0;

  bool operator==(const TensorMap&) const = default;

  bool packed() const { return type >= static_cast<std::int32_t>(TensorType::k16U4Align8); }
  bool padded() const { return type > static_cast<std::int32_t>(TensorType::k16U4Align8); }
  std::uint32_t element_bits() const;  // in global memory
  std::uint32_t element_bytes() const { return std::max(1u, element_bits() / 8); }
  std::uint32_t slice_bytes() const { return interleave == 2 ? 32 : 16; }
  // Bits of one step along the innermost dimension: of an element, or, interleaved, of a slice of
  // channels. In shared memory elements that are padded take a byte of 16 each.
  std::uint32_t unit_bits() const { return interleave != 0 ? 8 * slice_bytes() : element_bits(); }
  std::uint32_t shared_element_bits() const { return padded() ? 8 : element_bits(); }
  std::uint32_t shared_unit_bits() const {
    return interleave != 0 ? 8 * slice_bytes() : shared_element_bits();
  }
  // Interleaved tensors have their slices of channels in the dimension before the last; each copy
  // is of one slice.
  std::uint32_t slice_dimension() const { return rank - 2; }
  // Spatial dimensions of im2col: the first of them, and how many.
  std::uint32_t first_spatial() const { return interleave != 0 ? 0 : 1; }
  std::uint32_t spatial() const { return rank - 2; }

  // A copy is made of rows of units that lie side by side in shared memory; a row is `pitch` bytes
  // after the one before, where what is swizzled is wider.
  std::uint32_t row_units() const;
  std::uint32_t rows() const;
  std::uint32_t row_bytes() const { return row_units() * shared_unit_bits() / 8; }
  std::uint32_t pitch() const;
  // Of so many rows, what completes on the mbarrier: padding does not count.
  std::uint32_t copied_bytes(std::uint32_t rows) const {
    return rows * (row_units() * unit_bits() / 8);
  }
  std::uint32_t copied_bytes() const { return copied_bytes(rows()); }
  // Of shared memory, up to whole spans of what is swizzled; some bytes among them may be none of
  // the copy's.
  std::uint32_t covered_bytes(std::uint32_t rows) const;
  std::uint32_t covered_bytes() const { return covered_bytes(rows()); }
  // Where byte `offset` of the rows goes: `to` is the place in shared memory, and the result, too.
  std::uint32_t place(std::uint32_t to, std::uint32_t offset) const;
  // Whether the two halves of the 16 bytes at `place` change places there.
  bool turned(std::uint32_t place) const { return swizzle == 3 && atom == 2 && place >> 7 & 1; }
};

// Why the driver refuses a map on a device of compute capability `sm` (10 * major + minor); empty:
// it does not.
std::string refusal(const TensorMap& map, int sm = 90);

void encode(const TensorMap& map, std::byte* bytes);
// nullopt: the bytes are no tensor map, or have been changed by ordinary stores.
std::optional<TensorMap> decode(const std::byte* bytes);
// The same for tensormap.replace, which also begins with 128 bytes of zeros. They are a tile map of
// one dimension at address 0, with sizes, box and steps of 1, bytes as elements and all strides 0,
// as on an H100.
std::optional<TensorMap> decode_or_blank(const std::byte* bytes);

// How a copy goes through a map.
struct TensorAccess {
  TensorMode mode = TensorMode::kTile;
  // Coordinates, innermost first. Of four rows: that of all, and the number of each row.
  std::int32_t at[TensorMap::kMostDimensions] = {};
  // Of im2col: offsets. Along one dimension: how many pixels the halo has, and the offset.
  std::uint16_t offsets[3] = {};
  bool writes = false;      // to global memory
  bool to_cluster = false;  // to .shared::cluster
  int sm = 90;
};
// Why no copy of the mode goes through the map; empty: one does.
std::string mismatch(const TensorMap& map, TensorMode mode);
// Why no copy goes through the map so; empty: one does.
std::string refusal(const TensorMap& map, const TensorAccess& access);

// The rows of a copy in the order of shared memory.
class TensorRows {
 public:
  TensorRows(const TensorMap& map, const TensorAccess& access);
  std::uint32_t count() const;
  // Address of the unit with coordinate 0 in the innermost dimension, which may lie outside of the
  // row.
  std::uint64_t base() const;
  // Whether all other coordinates are in the tensor.
  bool inside() const;
  // Coordinate of unit `n` in the innermost dimension.
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

// What a load makes of an element's bits. TF32 is rounded; what the name of FTZ promises, silicon
// does not do there.
std::uint32_t loaded_word(TensorType type, std::uint32_t bits);

}  // namespace lockstep::memory
