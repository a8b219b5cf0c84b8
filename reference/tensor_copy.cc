#include "reference/tensor_copy.h"

#include <algorithm>
#include <optional>

namespace lockstep::reference {
namespace {

constexpr std::int64_t kPiece = 16;

std::int64_t up_to(std::int64_t n, std::int64_t step) { return (n + step - 1) / step; }

std::int64_t unit_bytes(const TensorBox& b) {
  return b.slice_bytes > 0 ? b.slice_bytes : b.element_bytes;
}

// The units of a row, and the number of rows in each outer dimension.
Coordinates extents(const TensorBox& b) {
  Coordinates n = {1, 1, 1, 1, 1};
  for (std::int64_t d = 0; d < b.rank; ++d) n[d] = up_to(b.box[d], b.steps[d]);
  if (b.slice_bytes == 0) n[0] = b.box[0];
  if (b.slice_bytes > 0) n[b.rank - 2] = 1;
  return n;
}

std::int64_t row_units(const TensorBox& b) { return b.im2col ? b.channels : extents(b)[0]; }
std::int64_t rows(const TensorBox& b) {
  if (b.im2col) return b.pixels;
  const Coordinates n = extents(b);
  return n[1] * n[2] * n[3] * n[4];
}
std::int64_t pitch(const TensorBox& b) {
  const std::int64_t row = row_units(b) * unit_bytes(b);
  return b.slice_bytes > 0 ? row : std::max(row, b.swizzle_bytes);
}

// The coordinates of row `row` of a tile; the innermost is that of its first unit.
Coordinates row_of_tile(const TensorBox& b, const Coordinates& at, std::int64_t row) {
  const Coordinates n = extents(b);
  Coordinates c = at;
  for (std::int64_t d = 1; d < b.rank; ++d) {
    c[d] += row % n[d] * b.steps[d];
    row /= n[d];
  }
  return c;
}

// The coordinates of pixel `pixel` of a column. Stores have no offsets.
Coordinates pixel_of_column(const TensorBox& b, const Coordinates& at, std::int64_t pixel,
                            TensorDirection direction) {
  Coordinates c = at;
  std::int64_t carry = pixel;  // steps still to be made in the current dimension
  for (std::int64_t d = 1; d + 1 < b.rank; ++d) {
    const std::int64_t s = d - 1, end = b.sizes[d] + b.upper[s];
    const std::int64_t left = up_to(end - at[d], b.steps[d]),
                       whole = up_to(end - b.lower[s], b.steps[d]);
    if (carry < left) {
      c[d] = at[d] + carry * b.steps[d];
      carry = 0;
    } else {
      c[d] = b.lower[s] + (carry - left) % whole * b.steps[d];
      carry = 1 + (carry - left) / whole;
    }
    if (direction == TensorDirection::kLoad) c[d] += b.offsets[s];
  }
  c[b.rank - 1] += carry * b.steps[b.rank - 1];
  return c;
}

// The byte of memory at which a row of the tensor begins; nothing if one of its coordinates is
// outside of the tensor.
std::optional<std::int64_t> row_in_memory(const TensorBox& b, const Coordinates& c) {
  std::int64_t place = 0;
  for (std::int64_t d = 1; d < b.rank; ++d) {
    if (c[d] < 0 || c[d] >= b.sizes[d]) return std::nullopt;
    place += c[d] * b.strides[d - 1];
  }
  return place;
}

}  // namespace

std::int64_t copied_bytes(const TensorBox& b) { return rows(b) * row_units(b) * unit_bytes(b); }

std::int64_t image_bytes(const TensorBox& b) {
  return 128 * up_to(b.to + rows(b) * pitch(b), 128) + 128;
}

std::int64_t memory_bytes(const TensorBox& b) {
  std::int64_t bytes = kPiece * up_to(b.sizes[0] * unit_bytes(b), kPiece);
  for (std::int64_t d = 1; d < b.rank; ++d) bytes += (b.sizes[d] - 1) * b.strides[d - 1];
  return bytes;
}

std::int64_t swizzled(std::int64_t place, std::int64_t swizzle_bytes) {
  const std::int64_t pieces = std::max<std::int64_t>(swizzle_bytes / kPiece, 1);
  return place ^ place / 128 % pieces * kPiece;
}

TensorPlaces tensor_places(const TensorBox& b, const Coordinates& at, TensorDirection direction) {
  TensorPlaces places = TensorPlaces::Constant(image_bytes(b), kNotCopied);
  const std::int64_t unit = unit_bytes(b), step = b.slice_bytes > 0 ? b.steps[0] : 1;
  for (std::int64_t row = 0; row < rows(b); ++row) {
    const Coordinates c =
        b.im2col ? pixel_of_column(b, at, row, direction) : row_of_tile(b, at, row);
    const std::optional<std::int64_t> begin = row_in_memory(b, c);
    for (std::int64_t i = 0; i < row_units(b); ++i) {
      // Decides whether a unit is inside: by itself or, for writes of whole pieces, by the first
      // unit of its piece.
      const std::int64_t of_piece = std::max<std::int64_t>(kPiece / unit, 1);
      const std::int64_t x = c[0] + i * step, first = direction == TensorDirection::kStore
                                                          ? c[0] + i / of_piece * of_piece * step
                                                          : x;
      const bool inside = begin && first >= 0 && first < b.sizes[0];
      for (std::int64_t byte = 0; byte < unit; ++byte) {
        const std::int64_t place =
            swizzled(b.to + row * pitch(b) + i * unit + byte, b.swizzle_bytes);
        places[place] = inside ? *begin + x * unit + byte : kOutsideOfTensor;
      }
    }
  }
  return places;
}

TensorBytes tensor_load(const TensorBox& b, const Coordinates& at,
                        std::span<const std::uint8_t> memory, std::uint8_t background) {
  const TensorPlaces places = tensor_places(b, at, TensorDirection::kLoad);
  TensorBytes image(places.size());
  for (Eigen::Index i = 0; i < places.size(); ++i) {
    const std::uint8_t fill = !b.fill_with_nan ? 0 : i % 2 == 0 ? 0xf7 : 0x7f;
    image[i] = places[i] >= 0                  ? memory[places[i]]
               : places[i] == kOutsideOfTensor ? fill
                                               : background;
  }
  return image;
}

void tensor_store(const TensorBox& b, const Coordinates& at, std::span<const std::uint8_t> image,
                  std::span<std::uint8_t> memory) {
  const TensorPlaces places = tensor_places(b, at, TensorDirection::kStore);
  for (Eigen::Index i = 0; i < places.size(); ++i) {
    if (places[i] >= 0) memory[places[i]] = image[i];
  }
}

}  // namespace lockstep::reference
