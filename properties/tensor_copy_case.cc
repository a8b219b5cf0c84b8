#include "properties/tensor_copy_case.h"

#include <bit>
#include <cstring>

namespace lockstep::properties {

std::int64_t bytes_of(TensorElement e) {
  constexpr int kBytes[] = {1, 2, 4, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(e)];
}
bool is_floating(TensorElement e) { return e >= TensorElement::kF16; }
bool is_wide(TensorElement e) { return e == TensorElement::kF32 || e == TensorElement::kF64; }

void TensorCopyCase::fields_of(TensorCopyCase& c, FieldVisitor& field) {
  using E = TensorElement;
  TensorShape& s = c.shape;
  field("rank", s.rank, range(1, 5));
  field("count", c.count, range(0, 5));
  field("element", s.element,
        choice<E>({{"u32", E::kU32},
                   {"u8", E::kU8},
                   {"u16", E::kU16},
                   {"s32", E::kS32},
                   {"u64", E::kU64},
                   {"f16", E::kF16},
                   {"bf16", E::kBF16},
                   {"f32", E::kF32},
                   {"f64", E::kF64}}));
  field("im2col", s.im2col, booleans());
  field("interleave", s.interleave,
        choice<TensorInterleave>({{"none", TensorInterleave::kNone},
                                  {"16", TensorInterleave::k16},
                                  {"32", TensorInterleave::k32}}));
  field("swizzle", s.swizzle,
        choice<TensorSwizzle>({{"none", TensorSwizzle::kNone},
                               {"32", TensorSwizzle::k32},
                               {"64", TensorSwizzle::k64},
                               {"128", TensorSwizzle::k128}}));
  field("fill", s.fill,
        choice<TensorFill>({{"zeros", TensorFill::kZeros}, {"nan", TensorFill::kNaN}}));
  field("pieces", c.pieces, range(1, 9));
  field("width", c.width, range(1, 70));
  field("pad", c.pad, range(0, 2));
  constexpr const char *kSizes[] = {"size1", "size2", "size3", "size4"},
                       *kBoxes[] = {"box1", "box2", "box3", "box4"},
                       *kSteps[] = {"step0", "step1", "step2", "step3", "step4"};
  for (int d = 0; d < 4; ++d) field(kSizes[d], s.sizes[d + 1], range<std::int64_t>(1, 7));
  for (int d = 0; d < 4; ++d) field(kBoxes[d], s.box[d + 1], range(1, 9));
  for (int d = 0; d < 5; ++d) field(kSteps[d], s.steps[d], one_of({1, 2, 3, 8}));
  constexpr const char *kLower[] = {"lower0", "lower1", "lower2"},
                       *kUpper[] = {"upper0", "upper1", "upper2"},
                       *kOffset[] = {"offset0", "offset1", "offset2"};
  for (int d = 0; d < 3; ++d) field(kLower[d], s.lower[d], range(-4, 4));
  for (int d = 0; d < 3; ++d) field(kUpper[d], s.upper[d], range(-4, 4));
  // Some exceed 8 bits: such boxes are outside of the tensor for all but one pixel.
  for (int d = 0; d < 3; ++d)
    field(kOffset[d], s.offsets[d], one_of({0, 1, 2, 3, 4, 256, 1, 257, 31}));
  field("pixels", s.pixels, range(1, 40));
  field("to", s.to, one_of({0, 128, 256, 384, 512, 640, 768, 896}));
  field("block", s.block, one_of({32, 64, 128, 256, 1, 33, 100}));
  field("max_blocks", s.max_blocks,
        choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"4", 4}}));
  field("cluster", c.cluster, one_of({2, 4, 8}));
  field("reduction", c.reduction,
        choice<TensorReduction>({{"add", TensorReduction::kAdd},
                                 {"min", TensorReduction::kMin},
                                 {"max", TensorReduction::kMax},
                                 {"and", TensorReduction::kAnd},
                                 {"or", TensorReduction::kOr},
                                 {"xor", TensorReduction::kXor}}));
  field("places", c.places, seeds());
  field("tensor_offset", c.tensor_offset, range(0, 7));
  field("at_offset", c.at_offset, range(0, 31));
  field("images_offset", c.images_offset, range(0, 15));
  field("poison", c.poison, poisons());
  field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide, ValueKind::kSpecial}));
}

constexpr int kReach[] = {0, 0, 0, 4, 3, 2};  // of the corners of a box of pixels, by rank

void TensorCopyCase::normalise() {
  TensorShape& s = shape;
  if (s.im2col) s.interleave = TensorInterleave::kNone;
  const bool sliced = s.interleave != TensorInterleave::kNone;
  if (s.im2col || sliced) s.rank = std::max(s.rank, 3);
  if (s.interleave == TensorInterleave::k32) s.swizzle = TensorSwizzle::k32;
  if (!is_floating(s.element)) s.fill = TensorFill::kZeros;
  if (s.swizzle != TensorSwizzle::kNone && !sliced)
    pieces = std::min(pieces, 1 << static_cast<int>(s.swizzle));
  const std::int64_t element = bytes_of(s.element), unit = s.interleave == TensorInterleave::k32
                                                               ? 32
                                                           : sliced ? kPiece
                                                                    : element;
  s.box[0] = s.channels = static_cast<int>(pieces * kPiece / element);
  // With more dimensions, each is smaller.
  const int most_box = s.rank <= 3   ? 9
                       : s.rank == 4 ? 4
                                     : 3,
            most_size = s.rank <= 3   ? 7
                        : s.rank == 4 ? 4
                                      : 3;
  for (int d = 1; d < 5; ++d)
    s.box[d] = std::min(s.box[d], most_box),
    s.sizes[d] = std::min<std::int64_t>(s.sizes[d], most_size);
  if (s.rank > 3) width = std::min(width, 24);
  s.sizes[0] = width;
  const std::int64_t grain = s.interleave == TensorInterleave::k32 ? 32 : kPiece;
  std::int64_t below = s.sizes[0] * unit;
  for (int d = 1; d < 5; ++d) {
    s.strides[d - 1] = (below + grain - 1) / grain * grain + pad * grain;
    below = s.strides[d - 1] * s.sizes[d];
  }
  for (int d = 0; s.im2col && d + 2 < s.rank; ++d) {
    const int reach = kReach[s.rank];
    s.lower[d] = std::clamp(s.lower[d], -reach, reach),
    s.upper[d] = std::clamp(s.upper[d], -reach, reach);
    if (s.sizes[d + 1] + s.upper[d] <= s.lower[d]) s.lower[d] = s.upper[d] = 0;
    constexpr int kOffsets[] = {0, 0, 0, 1 << 16, 1 << 8, 1 << 5};
    s.offsets[d] %= kOffsets[s.rank];
  }
}

TensorBox TensorCopyCase::box() const {
  TensorBox b;
  const TensorShape& s = shape;
  b.rank = s.rank, b.element_bytes = bytes_of(s.element);
  for (int d = 0; d < 5; ++d) b.sizes[d] = s.sizes[d], b.steps[d] = s.steps[d], b.box[d] = s.box[d];
  for (int d = 0; d < 4; ++d) b.strides[d] = s.strides[d];
  for (int d = 0; d < 3; ++d)
    b.lower[d] = s.lower[d], b.upper[d] = s.upper[d], b.offsets[d] = s.offsets[d];
  b.slice_bytes = s.interleave == TensorInterleave::kNone ? 0
                  : s.interleave == TensorInterleave::k16 ? 16
                                                          : 32;
  b.swizzle_bytes = s.swizzle == TensorSwizzle::kNone ? 0 : 16 << static_cast<int>(s.swizzle);
  b.fill_with_nan = s.fill == TensorFill::kNaN;
  b.im2col = s.im2col, b.channels = s.channels, b.pixels = s.pixels, b.to = s.to;
  return b;
}

// Any place that a load may have: before the tensor, inside, and past its end.
CopyPlaces TensorCopyCase::load_places() const {
  Bits bits(places);
  CopyPlaces at;
  for (int i = 0; i < count; ++i) {
    for (int d = 0; d < 5; ++d) {
      std::int64_t least = -reach(d) - 1, most = shape.sizes[d] + 1;
      if (shape.im2col && d > 0 && d + 1 < shape.rank)
        least = shape.lower[d - 1], most = shape.sizes[d] + shape.upper[d - 1] - 1;
      std::int64_t c = least + static_cast<std::int64_t>(bits.below(most - least + 1));
      if (d == 0) c = c / coordinate_grain() * coordinate_grain();
      at.push_back(d < shape.rank ? static_cast<std::int32_t>(c) : -7);
    }
  }
  return at;
}

// Disjoint boxes: some of those next to each other, from a corner near the tensor's; for columns,
// one.
CopyPlaces TensorCopyCase::store_places() const {
  if (shape.im2col) {
    CopyPlaces at = load_places();
    at.resize(std::min<std::size_t>(at.size(), 5));
    if (!at.empty())
      at[0] = std::max(at[0], 0), at[shape.rank - 1] = std::max(at[shape.rank - 1], 0);
    return at;
  }
  Bits bits(places);
  Coordinates first = {}, boxes = {1, 1, 1, 1, 1};
  std::int64_t all = 1;
  for (int d = 0; d < shape.rank; ++d) {
    first[d] = static_cast<std::int64_t>(bits.below(std::min<std::int64_t>(shape.sizes[d], 4)));
    if (d == 0) first[d] = first[d] / coordinate_grain() * coordinate_grain();
    boxes[d] = (shape.sizes[d] - first[d]) / reach(d) + 1;
    all *= boxes[d];
  }
  CopyPlaces at;
  const auto begin = static_cast<std::int64_t>(bits.below(all));
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, all); ++i) {
    std::int64_t n = (begin + i) % all;
    for (int d = 0; d < 5; ++d) {
      at.push_back(static_cast<std::int32_t>(first[d] + n % boxes[d] * reach(d)));
      n /= boxes[d];
    }
  }
  return at;
}

namespace {

template <class T>
void append(ByteList& bytes, const std::vector<T>& values) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data() + begin, values.data(), values.size() * sizeof(T));
}

}  // namespace

// Values of the case's element type; small integers with exact sums if they will be added or
// compared as numbers.
ByteList TensorCopyCase::values_for(std::int64_t bytes, std::uint64_t stream, bool small) const {
  const Values v =
      small && is_floating(shape.element) ? Values{ValueKind::kSmallIntegers, values.seed} : values;
  const std::int64_t n = (bytes + 7) / 8 * 8 / bytes_of(shape.element);
  ByteList list;
  switch (shape.element) {
    case TensorElement::kU8: append(list, make_values<std::uint8_t>(v, n, stream)); break;
    case TensorElement::kU16: append(list, make_values<std::uint16_t>(v, n, stream)); break;
    case TensorElement::kU32:
    case TensorElement::kS32: append(list, make_values<std::uint32_t>(v, n, stream)); break;
    case TensorElement::kU64: append(list, make_values<std::uint64_t>(v, n, stream)); break;
    case TensorElement::kF16: append(list, make_values<Half>(v, n, stream)); break;
    case TensorElement::kF32: append(list, make_values<float>(v, n, stream)); break;
    case TensorElement::kF64: append(list, make_values<double>(v, n, stream)); break;
    case TensorElement::kBF16: {
      std::vector<std::uint16_t> upper;
      for (const float f : make_values<float>(v, n, stream))
        upper.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(f) >> 16));
      append(list, upper);
      break;
    }
  }
  list.resize(bytes);
  return list;
}

}  // namespace lockstep::properties
