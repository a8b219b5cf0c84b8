// Tensor maps: what cuTensorMapEncodeTiled and ...Im2col make of their arguments, 128 opaque bytes,
// and what a copy through one touches.
//
// The layout of the bytes is the simulated GPU's own. Programs copy them and hand them to kernels;
// tensormap.replace changes single fields. One bit of them belongs to programs: CuTe clears it in
// the maps of small tensors, to keep a mistake of drivers up to CUDA 13.1 from them
// (include/cute/atom/copy_traits_sm90_tma.hpp).
// Which arguments are refused, and every rule of the walk below that cuda.h leaves open, is as an
// NVIDIA H100 has it (golden/tensor_maps). Source: cuda.h of CUDA 13.0; PTX ISA 9.0, 5.5 (tensors).
#pragma once

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
  kTF32Ftz
};

struct TensorMap {
  static constexpr std::size_t kBytes = 128, kAlignment = 64;
  static constexpr std::uint32_t kMostDimensions = 5;
  // The bit of a 64-bit word of the bytes that means nothing, and may be changed.
  static constexpr std::size_t kUnusedWord = 1, kUnusedBit = 21;

  // Numbers of the driver's enumerations, kept unchecked so that invalid ones can be reported.
  std::int32_t type = 0;
  std::int32_t interleave = 0;  // none, slices of 16 bytes, of 32 bytes
  std::int32_t swizzle = 0;     // none, 32, 64, 128 bytes
  std::int32_t promotion = 0;   // a hint
  std::int32_t fill = 0;        // outside of the tensor: zeros, NaN
  bool im2col = false;
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

  std::uint32_t element_bytes() const;
  std::uint32_t slice_bytes() const { return interleave == 2 ? 32 : 16; }
  // Bytes of one step along the innermost dimension: of an element, or, interleaved, of a slice of
  // channels.
  std::uint32_t unit_bytes() const { return interleave != 0 ? slice_bytes() : element_bytes(); }
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
  std::uint32_t row_bytes() const { return row_units() * unit_bytes(); }
  std::uint32_t pitch() const;
  std::uint32_t copied_bytes() const {
    return rows() * row_bytes();
  }  // what completes on the mbarrier
  // Of shared memory, up to whole spans of what is swizzled; some bytes among them may be none of
  // the copy's.
  std::uint32_t covered_bytes() const;
  // Where byte `offset` of the rows goes: `to` is the place in shared memory, and the result, too.
  std::uint32_t place(std::uint32_t to, std::uint32_t offset) const;
};

// Why the driver refuses a map; empty: it does not.
std::string refusal(const TensorMap& map);

void encode(const TensorMap& map, std::byte* bytes);
// nullopt: the bytes are no tensor map, or have been changed by ordinary stores.
std::optional<TensorMap> decode(const std::byte* bytes);
// The same for tensormap.replace, which also begins with 128 bytes of zeros. They are a tile map of
// one dimension at address 0, with sizes, box and steps of 1, bytes as elements and all strides 0,
// as on an H100.
std::optional<TensorMap> decode_or_blank(const std::byte* bytes);

// Why no copy goes through the map at these coordinates; empty: one does. `writes`: to global
// memory.
std::string refusal(const TensorMap& map, const std::int32_t* at, bool writes);

// The rows of a copy in the order of shared memory.
class TensorRows {
 public:
  // `at`: coordinates, innermost first; `offsets` of im2col, nullptr: none.
  TensorRows(const TensorMap& map, const std::int32_t* at, const std::uint16_t* offsets);
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

  const TensorMap& map_;
  std::int64_t at_[TensorMap::kMostDimensions] = {}, first_[TensorMap::kMostDimensions] = {};
  std::uint16_t offsets_[3] = {};
  std::uint32_t done_[TensorMap::kMostDimensions] = {};
};

// What a load makes of an element's bits. TF32 is rounded; what the name of FTZ promises, silicon
// does not do there.
std::uint32_t loaded_word(TensorType type, std::uint32_t bits);

}  // namespace lockstep::memory
