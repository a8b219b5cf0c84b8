// Cases of tensor_copy: a tensor's shape, the copied boxes, and the values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/field.h"
#include "harness/property/values.h"
#include "kernels/tensor_copy.h"
#include "reference/tensor_copy.h"

namespace lockstep::properties {

using kernels::TensorElement;
using kernels::TensorFill;
using kernels::TensorInterleave;
using kernels::TensorReduction;
using kernels::TensorShape;
using kernels::TensorSwizzle;
using reference::Coordinates;
using reference::TensorBox;

using ByteList = std::vector<unsigned char>;
using CopyPlaces = std::vector<std::int32_t>;  // five coordinates per copy

enum TensorStream : std::uint64_t { kTensor, kImages };  // for make_values(): one per array

constexpr std::int64_t kPiece = 16;

std::int64_t bytes_of(TensorElement e);
bool is_floating(TensorElement e);
bool is_wide(TensorElement e);

// Copies of a tensor's boxes, or of columns of its pixels.
struct TensorCopyCase {
  TensorShape shape;
  int pieces = 1;            // the width of the box, in units of 16 bytes
  int width = 1;             // of the tensor, in elements (slices)
  int pad = 0;               // units of 16 bytes between its rows
  int count = 1;             // copies
  std::uint64_t places = 0;  // seed of the places
  int cluster = 2;           // of a multicast
  TensorReduction reduction = TensorReduction::kAdd;
  int tensor_offset = 0, at_offset = 0,
      images_offset = 0;  // elements, of 32, 4 and 16 bytes, past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(TensorCopyCase& c, FieldVisitor& field) { fields_of(c, field); }
  static void fields_of(TensorCopyCase& c, FieldVisitor& field);
  // Changes the drawn shape to a legal one.
  void normalise();

  std::int64_t grain() const { return shape.interleave == TensorInterleave::k32 ? 32 : kPiece; }
  // The innermost coordinate is a multiple of this.
  std::int64_t coordinate_grain() const {
    return shape.interleave != TensorInterleave::kNone
               ? 1
               : std::max<std::int64_t>(kPiece / bytes_of(shape.element), 1);
  }
  // The extent of the box in a dimension.
  std::int64_t reach(int d) const {
    if (shape.im2col) return d == 0 ? shape.channels : 1;
    return shape.interleave != TensorInterleave::kNone && d == shape.rank - 2 ? 1 : shape.box[d];
  }

  TensorBox box() const;
  CopyPlaces load_places() const;
  CopyPlaces store_places() const;
  ByteList values_for(std::int64_t bytes, std::uint64_t stream, bool small) const;
  ByteList tensor() const { return values_for(reference::memory_bytes(box()), kTensor, false); }
};

// Tiles: for functions without im2col, and for boxes that must not go beyond the tensor.
struct TensorTileCase : TensorCopyCase {
  static void fields(TensorTileCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    shape.im2col = false;
    TensorCopyCase::normalise();
  }
};

// A supported reduction.
struct TensorReduceCase : TensorTileCase {
  static void fields(TensorReduceCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    if (bytes_of(shape.element) < 4 && !is_floating(shape.element))
      shape.element = TensorElement::kU32;
    if (shape.element == TensorElement::kF64) shape.element = TensorElement::kF32;
    if (is_floating(shape.element) && reduction >= TensorReduction::kAnd)
      reduction = TensorReduction::kAdd;
    if (is_wide(shape.element)) reduction = TensorReduction::kAdd;
    TensorTileCase::normalise();
  }
};

// A case of moderate size, which is launched repeatedly, or not at all: tiles and columns.
template <class Case>
struct SmallCaseOf : Case {
  static void fields(SmallCaseOf& c, FieldVisitor& field) { Case::fields_of(c, field); }
  void normalise() {
    this->count = std::min(this->count, 3), this->width = std::min(this->width, 12);
    this->pieces = std::min(this->pieces, 3);
    TensorShape& s = this->shape;
    for (int d = 1; d < 5; ++d)
      s.box[d] = std::min(s.box[d], 3), s.sizes[d] = std::min<std::int64_t>(s.sizes[d], 3);
    Case::normalise();
  }
};
using SmallTensorCopyCase = SmallCaseOf<TensorCopyCase>;
using SmallTensorReduceCase = SmallCaseOf<TensorReduceCase>;

// A case for every launcher: a box of pixels that stores may use.
struct TensorStoreCase : TensorCopyCase {
  static void fields(TensorStoreCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    for (int d = 0; shape.im2col && d < 3; ++d)
      shape.lower[d] = std::max(shape.lower[d], 0), shape.upper[d] = std::min(shape.upper[d], 0);
    TensorCopyCase::normalise();
  }
};

}  // namespace lockstep::properties
