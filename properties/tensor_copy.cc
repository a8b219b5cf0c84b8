#include "properties/tensor_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "harness/device/device.h"
#include "harness/property/values.h"
#include "properties/contract_laws.h"
#include "reference/tensor_copy.h"

namespace lockstep::properties {
namespace {

using kernels::TensorElement;
using kernels::TensorFill;
using kernels::TensorInterleave;
using kernels::TensorReduction;
using kernels::TensorShape;
using kernels::TensorSwizzle;
using reference::Coordinates;
using reference::TensorBox;
using reference::TensorDirection;
using List = std::vector<unsigned char>;
using Places = std::vector<std::int32_t>;  // five coordinates a copy

enum Stream : std::uint64_t { kTensor, kImages };  // of make_values(): one an array

constexpr std::int64_t kPiece = 16;
constexpr int kReach[] = {0, 0, 0, 4, 3, 2};  // of the corners of a box of pixels, by rank

std::int64_t bytes_of(TensorElement e) {
  constexpr int kBytes[] = {1, 2, 4, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(e)];
}
bool is_floating(TensorElement e) { return e >= TensorElement::kF16; }
bool is_wide(TensorElement e) { return e == TensorElement::kF32 || e == TensorElement::kF64; }

// Copies of a tensor's boxes, or of columns of its pixels.
struct CopyCase {
  TensorShape shape;
  int pieces = 1;            // 16 bytes each: the width of the box
  int width = 1;             // of the tensor, in elements (slices)
  int pad = 0;               // pieces between its rows
  int count = 1;             // copies
  std::uint64_t places = 0;  // seed of where
  int cluster = 2;           // of a multicast
  TensorReduction reduction = TensorReduction::kAdd;
  int tensor_offset = 0, at_offset = 0, images_offset = 0;  // elements, of 32, 4 and 16 bytes, past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(CopyCase& c, FieldVisitor& field) { fields_of(c, field); }
  static void fields_of(CopyCase& c, FieldVisitor& field) {
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
          choice<TensorInterleave>(
              {{"none", TensorInterleave::kNone}, {"16", TensorInterleave::k16}, {"32", TensorInterleave::k32}}));
    field("swizzle", s.swizzle,
          choice<TensorSwizzle>({{"none", TensorSwizzle::kNone},
                                 {"32", TensorSwizzle::k32},
                                 {"64", TensorSwizzle::k64},
                                 {"128", TensorSwizzle::k128}}));
    field("fill", s.fill, choice<TensorFill>({{"zeros", TensorFill::kZeros}, {"nan", TensorFill::kNaN}}));
    field("pieces", c.pieces, range(1, 9));
    field("width", c.width, range(1, 70));
    field("pad", c.pad, range(0, 2));
    constexpr const char *kSizes[] = {"size1", "size2", "size3", "size4"}, *kBoxes[] = {"box1", "box2", "box3", "box4"},
                         *kSteps[] = {"step0", "step1", "step2", "step3", "step4"};
    for (int d = 0; d < 4; ++d) field(kSizes[d], s.sizes[d + 1], range<std::int64_t>(1, 7));
    for (int d = 0; d < 4; ++d) field(kBoxes[d], s.box[d + 1], range(1, 9));
    for (int d = 0; d < 5; ++d) field(kSteps[d], s.steps[d], one_of({1, 2, 3, 8}));
    constexpr const char *kLower[] = {"lower0", "lower1", "lower2"}, *kUpper[] = {"upper0", "upper1", "upper2"},
                         *kOffset[] = {"offset0", "offset1", "offset2"};
    for (int d = 0; d < 3; ++d) field(kLower[d], s.lower[d], range(-4, 4));
    for (int d = 0; d < 3; ++d) field(kUpper[d], s.upper[d], range(-4, 4));
    for (int d = 0; d < 3; ++d) field(kOffset[d], s.offsets[d], range(0, 4));
    field("pixels", s.pixels, range(1, 40));
    field("to", s.to, one_of({0, 128, 256, 384, 512, 640, 768, 896}));
    field("block", s.block, one_of({32, 64, 128, 256, 1, 33, 100}));
    field("max_blocks", s.max_blocks, choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"4", 4}}));
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

  // A legal shape of what was drawn.
  void normalise() {
    TensorShape& s = shape;
    if (s.im2col) s.interleave = TensorInterleave::kNone;
    const bool sliced = s.interleave != TensorInterleave::kNone;
    if (s.im2col || sliced) s.rank = std::max(s.rank, 3);
    if (s.interleave == TensorInterleave::k32) s.swizzle = TensorSwizzle::k32;
    if (!is_floating(s.element)) s.fill = TensorFill::kZeros;
    if (s.swizzle != TensorSwizzle::kNone && !sliced) pieces = std::min(pieces, 1 << static_cast<int>(s.swizzle));
    const std::int64_t element = bytes_of(s.element), unit = s.interleave == TensorInterleave::k32 ? 32
                                                             : sliced                              ? kPiece
                                                                                                   : element;
    s.box[0] = s.channels = static_cast<int>(pieces * kPiece / element);
    // The more dimensions, the less of each.
    const int most_box = s.rank <= 3 ? 9 : s.rank == 4 ? 4 : 3, most_size = s.rank <= 3 ? 7 : s.rank == 4 ? 4 : 3;
    for (int d = 1; d < 5; ++d)
      s.box[d] = std::min(s.box[d], most_box), s.sizes[d] = std::min<std::int64_t>(s.sizes[d], most_size);
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
      s.lower[d] = std::clamp(s.lower[d], -reach, reach), s.upper[d] = std::clamp(s.upper[d], -reach, reach);
      if (s.sizes[d + 1] + s.upper[d] <= s.lower[d]) s.lower[d] = s.upper[d] = 0;
    }
  }

  std::int64_t grain() const { return shape.interleave == TensorInterleave::k32 ? 32 : kPiece; }
  // What the innermost coordinate is a multiple of.
  std::int64_t coordinate_grain() const {
    return shape.interleave != TensorInterleave::kNone ? 1
                                                       : std::max<std::int64_t>(kPiece / bytes_of(shape.element), 1);
  }
  // How far the box goes in a dimension.
  std::int64_t reach(int d) const {
    if (shape.im2col) return d == 0 ? shape.channels : 1;
    return shape.interleave != TensorInterleave::kNone && d == shape.rank - 2 ? 1 : shape.box[d];
  }

  TensorBox box() const;
  Places load_places() const;
  Places store_places() const;
  List values_for(std::int64_t bytes, std::uint64_t stream, bool small) const;
  List tensor() const { return values_for(reference::memory_bytes(box()), kTensor, false); }
};

TensorBox CopyCase::box() const {
  TensorBox b;
  const TensorShape& s = shape;
  b.rank = s.rank, b.element_bytes = bytes_of(s.element);
  for (int d = 0; d < 5; ++d) b.sizes[d] = s.sizes[d], b.steps[d] = s.steps[d], b.box[d] = s.box[d];
  for (int d = 0; d < 4; ++d) b.strides[d] = s.strides[d];
  for (int d = 0; d < 3; ++d) b.lower[d] = s.lower[d], b.upper[d] = s.upper[d], b.offsets[d] = s.offsets[d];
  b.slice_bytes = s.interleave == TensorInterleave::kNone ? 0 : s.interleave == TensorInterleave::k16 ? 16 : 32;
  b.swizzle_bytes = s.swizzle == TensorSwizzle::kNone ? 0 : 16 << static_cast<int>(s.swizzle);
  b.fill_with_nan = s.fill == TensorFill::kNaN;
  b.im2col = s.im2col, b.channels = s.channels, b.pixels = s.pixels, b.to = s.to;
  return b;
}

// Anywhere that a load may begin: before the tensor, within, and past its end.
Places CopyCase::load_places() const {
  Bits bits(places);
  Places at;
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

// Boxes that do not meet: some of those that lie side by side from a corner near the tensor's; of columns, one.
Places CopyCase::store_places() const {
  if (shape.im2col) {
    Places at = load_places();
    at.resize(std::min<std::size_t>(at.size(), 5));
    if (!at.empty()) at[0] = std::max(at[0], 0), at[shape.rank - 1] = std::max(at[shape.rank - 1], 0);
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
  Places at;
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

template <class T>
void append(List& bytes, const std::vector<T>& values) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data() + begin, values.data(), values.size() * sizeof(T));
}

// Of the case's elements; small integers, whose sums are exact, where they will be added or compared as such.
List CopyCase::values_for(std::int64_t bytes, std::uint64_t stream, bool small) const {
  const Values v = small && is_floating(shape.element) ? Values{ValueKind::kSmallIntegers, values.seed} : values;
  const std::int64_t n = (bytes + 7) / 8 * 8 / bytes_of(shape.element);
  List list;
  switch (shape.element) {
    case TensorElement::kU8:
      append(list, make_values<std::uint8_t>(v, n, stream));
      break;
    case TensorElement::kU16:
      append(list, make_values<std::uint16_t>(v, n, stream));
      break;
    case TensorElement::kU32:
    case TensorElement::kS32:
      append(list, make_values<std::uint32_t>(v, n, stream));
      break;
    case TensorElement::kU64:
      append(list, make_values<std::uint64_t>(v, n, stream));
      break;
    case TensorElement::kF16:
      append(list, make_values<Half>(v, n, stream));
      break;
    case TensorElement::kF32:
      append(list, make_values<float>(v, n, stream));
      break;
    case TensorElement::kF64:
      append(list, make_values<double>(v, n, stream));
      break;
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

// Tiles, for what there is not with im2col, or where a corner may not go beyond the tensor.
struct TileCase : CopyCase {
  static void fields(TileCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    shape.im2col = false;
    CopyCase::normalise();
  }
};

// A reduction that there is.
struct ReduceCase : TileCase {
  static void fields(ReduceCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    if (bytes_of(shape.element) < 4 && !is_floating(shape.element)) shape.element = TensorElement::kU32;
    if (shape.element == TensorElement::kF64) shape.element = TensorElement::kF32;
    if (is_floating(shape.element) && reduction >= TensorReduction::kAnd) reduction = TensorReduction::kAdd;
    if (is_wide(shape.element)) reduction = TensorReduction::kAdd;
    TileCase::normalise();
  }
};

// One of moderate size, since it is launched again and again, or not at all.
struct SmallCase : ReduceCase {
  static void fields(SmallCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    count = std::min(count, 3), width = std::min(width, 12), pieces = std::min(pieces, 3),
    cluster = std::min(cluster, 4);
    for (int d = 1; d < 5; ++d)
      shape.box[d] = std::min(shape.box[d], 3), shape.sizes[d] = std::min<std::int64_t>(shape.sizes[d], 3);
    ReduceCase::normalise();
  }
};

// One that every launcher takes: a box of pixels that may be stored through.
struct StoreCase : CopyCase {
  static void fields(StoreCase& c, FieldVisitor& field) { fields_of(c, field); }
  void normalise() {
    for (int d = 0; shape.im2col && d < 3; ++d)
      shape.lower[d] = std::max(shape.lower[d], 0), shape.upper[d] = std::min(shape.upper[d], 0);
    CopyCase::normalise();
  }
};

// ---- What the launchers are called with, and their contracts.

constexpr Whole kMostElements = Whole{1} << 32;
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

template <class E>
void describe_choice(Call<TensorCopy>& call, const char* name, E last, E& at) {
  using T = std::underlying_type_t<E>;
  // The others are legal, but not with this box and tensor.
  call.integer(name, {.least = 0, .most = static_cast<T>(last), .here = {static_cast<T>(at)}},
               reinterpret_cast<T&>(at));
}

void describe_shape(Call<TensorCopy>& call, const CopyCase& c, TensorShape& s) {
  const bool sliced = s.interleave != TensorInterleave::kNone;
  describe_choice(call, "element", TensorElement::kF64, s.element);
  describe_choice(call, "interleave", TensorInterleave::k32, s.interleave);
  describe_choice(call, "swizzle", TensorSwizzle::k128, s.swizzle);
  describe_choice(call, "fill", TensorFill::kNaN, s.fill);
  const auto number = [&](const std::string& name, auto& at, Whole least, Whole most, Whole step = 1) {
    call.integer(name, {.least = least, .most = most, .step = step, .here = {at}}, at);
  };
  number("rank", s.rank, sliced || s.im2col ? 3 : 1, 5);
  Whole below = s.sizes[0] * (sliced ? c.grain() : bytes_of(s.element));
  for (int d = 0; d < s.rank; ++d) {
    const std::string n = std::to_string(d);
    number("sizes" + n, s.sizes[d], 1, kMostElements);
    number("steps" + n, s.steps[d], 1, 8);
    if (!s.im2col) number("box" + n, s.box[d], 1, 256);
    if (d == 0) continue;
    number("strides" + std::to_string(d - 1), s.strides[d - 1], (below + c.grain() - 1) / c.grain() * c.grain(),
           (Whole{1} << 40) - c.grain(), c.grain());
    below += (s.sizes[d] - 1) * s.strides[d - 1];
  }
  if (s.im2col) {
    const int corner = s.rank == 3   ? 32767
                       : s.rank == 4 ? 127
                                     : 15,
              offset = s.rank == 3   ? 65535
                       : s.rank == 4 ? 255
                                     : 31;
    for (int d = 0; d + 2 < s.rank; ++d) {
      const std::string n = std::to_string(d);
      number("lower" + n, s.lower[d], -corner - 1, corner);
      number("upper" + n, s.upper[d], -corner - 1, corner);
      call.integer("offsets" + n, {0, offset}, s.offsets[d]);
    }
    number("channels", s.channels, 1, 256);
    number("pixels", s.pixels, 1, 1024);
    call.mistake("no_pixels", [&s] { s.upper[0] = static_cast<int>(s.lower[0] - s.sizes[1]); });
    call.mistake("odd_channels", [&s] { --s.channels; });
    call.mistake("sliced_pixels", [&s] { s.interleave = TensorInterleave::k16; });
  } else {
    call.mistake("odd_box", [&s] { --s.box[0]; });
    if (s.rank >= 3 && !sliced) {
      call.mistake("more_than_a_block_has", [&s] { s.box[1] = s.box[2] = 256, s.steps[1] = s.steps[2] = 1; });
    }
  }
  if (!is_floating(s.element)) call.mistake("integers_of_nan", [&s] { s.fill = TensorFill::kNaN; });
  if (sliced)
    call.mistake("slices_of_32_not_swizzled",
                 [&s] { s.interleave = TensorInterleave::k32, s.swizzle = TensorSwizzle::kNone; });
  call.integer("to", {.least = 0, .most = 896, .step = 128, .here = {s.to}}, s.to);
  call.integer("block", {1, 1024}, s.block);
  call.integer("max_blocks", {1, kUnlimited}, s.max_blocks);
}

// What coordinates may be follows from the shape: those of another, as many as they are, do not fit.
std::int64_t number_of(const TensorShape& s) {
  std::uint64_t n = 0;
  const auto add = [&n](auto value) { n = (n ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u; };
  add(s.rank), add(s.element), add(s.interleave), add(s.im2col), add(s.channels), add(s.pixels);
  for (const auto v : s.sizes) add(v);
  for (const auto v : s.strides) add(v);
  for (const auto v : s.steps) add(v);
  for (const auto v : s.box) add(v);
  for (const auto v : s.lower) add(v);
  for (const auto v : s.upper) add(v);
  return static_cast<std::int64_t>(n >> 2);
}

struct Contents {
  std::function<List()> tensor, images;  // what the launcher reads
  Places at;
};

template <class Tensor, class Images>
void describe_arrays(Call<TensorCopy>& call, const CopyCase& c, Tensor*& tensor, const std::int32_t*& at,
                     std::int64_t& count, Images*& images, const Contents& contents, int images_a_copy = 1) {
  const TensorBox b = c.box();
  const std::int64_t n = count, image = reference::image_bytes(b) * images_a_copy;
  const bool loads = std::is_const_v<Tensor>;
  call.integer("count", {0, kAny / image}, count);
  const Footprint of_tensor = {.count = n > 0 ? reference::memory_bytes(b) : 0,
                               .alignment = static_cast<std::size_t>(c.grain())},
                  of_images = {.count = n * image, .alignment = 16};
  const Layout tensor_layout = {32 * c.tensor_offset, c.poison}, images_layout = {16 * c.images_offset, c.poison};
  const auto tensor_bytes = [n, make = contents.tensor] { return n > 0 ? make() : List(); };
  if constexpr (std::is_const_v<Tensor>) {
    call.input("tensor", tensor, of_tensor, tensor_layout, tensor_bytes);
    call.template output<unsigned char>("images", images, of_images, images_layout);
  } else {
    call.in_out("tensor", tensor, of_tensor, tensor_layout, tensor_bytes);
    call.input("images", images, of_images, images_layout, contents.images);
  }
  call.input("at", at, {.count = 5 * n, .room = number_of(c.shape)}, {c.at_offset, c.poison},
             [at = contents.at] { return at; });
  call.apart("tensor", "images");
  if (!loads) call.apart("tensor", "at");
}

Call<TensorCopy> load_call(const CopyCase& c, const Contents& contents) {
  Call<TensorCopy> call("tensor_load");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [shape, tensor, at, n, images] = call.arguments(&TensorCopy::load, c.shape, nullptr, nullptr, count, nullptr);
  describe_shape(call, c, shape);
  describe_arrays(call, c, tensor, at, n, images, contents);
  return call;
}

Call<TensorCopy> multicast_call(const CopyCase& c, const Contents& contents) {
  Call<TensorCopy> call("tensor_multicast");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [shape, cluster, tensor, at, n, images] =
      call.arguments(&TensorCopy::multicast, c.shape, c.cluster, nullptr, nullptr, count, nullptr);
  describe_shape(call, c, shape);
  call.integer("cluster", {.only = {2, 4, 8}, .here = {cluster}}, cluster);
  describe_arrays(call, c, tensor, at, n, images, contents, c.cluster);
  return call;
}

Call<TensorCopy> store_call(const CopyCase& c, const Contents& contents) {
  Call<TensorCopy> call("tensor_store");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [shape, tensor, at, n, images] = call.arguments(&TensorCopy::store, c.shape, nullptr, nullptr, count, nullptr);
  describe_shape(call, c, shape);
  if (c.shape.im2col) call.mistake("a_corner_outside", [&s = shape] { s.lower[0] = -1, s.upper[0] = 0; });
  describe_arrays(call, c, tensor, at, n, images, contents);
  return call;
}

Call<TensorCopy> reduce_call(const CopyCase& c, const Contents& contents) {
  Call<TensorCopy> call("tensor_reduce");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [reduction, shape, tensor, at, n, images] =
      call.arguments(&TensorCopy::reduce, c.reduction, c.shape, nullptr, nullptr, count, nullptr);
  describe_choice(call, "reduction", TensorReduction::kXor, reduction);
  describe_shape(call, c, shape);
  if (is_floating(c.shape.element)) call.mistake("bits_of_numbers", [&r = reduction] { r = TensorReduction::kAnd; });
  if (is_wide(c.shape.element)) call.mistake("least_of_wide_numbers", [&r = reduction] { r = TensorReduction::kMin; });
  describe_arrays(call, c, tensor, at, n, images, contents);
  return call;
}

List images_of(const CopyCase& c, std::int64_t count, bool small) {
  return c.values_for(count * reference::image_bytes(c.box()), kImages, small);
}

Contents load_contents(const CopyCase& c) {
  return {[c] { return c.tensor(); }, nullptr, c.load_places()};
}
Contents store_contents(const CopyCase& c, bool small = false) {
  Contents contents = {[c, small] { return c.values_for(reference::memory_bytes(c.box()), kTensor, small); }, nullptr,
                       c.store_places()};
  contents.images = [c, n = contents.at.size() / 5, small] {
    return images_of(c, static_cast<std::int64_t>(n), small);
  };
  return contents;
}

// What every launcher takes: a tile, of elements that there is a reduction for.
Calls<TensorCopy> calls_of(const SmallCase& drawn) {
  SmallCase c = drawn;
  c.normalise();  // a case that is still being drawn is asked for its mistakes
  Calls<TensorCopy> calls;
  calls.push_back(load_call(c, load_contents(c)));
  calls.push_back(multicast_call(c, load_contents(c)));
  calls.push_back(store_call(c, store_contents(c)));
  calls.push_back(reduce_call(c, store_contents(c, true)));
  return calls;
}
// Those that know im2col.
Calls<TensorCopy> column_calls_of(const StoreCase& drawn) {
  StoreCase c = drawn;
  c.normalise();
  Calls<TensorCopy> calls;
  calls.push_back(load_call(c, load_contents(c)));
  calls.push_back(store_call(c, store_contents(c)));
  return calls;
}

// ---- The laws.

Coordinates coordinates(const Places& at, std::size_t i) {
  Coordinates c;
  for (int d = 0; d < 5; ++d) c[d] = at[5 * i + d];
  return c;
}

// The images that loads at these places leave, each `times` times.
List expected_images(const CopyCase& c, const Places& at, const List& tensor, int times = 1) {
  List all;
  for (std::size_t i = 0; 5 * i < at.size(); ++i) {
    const reference::TensorBytes image =
        reference::tensor_load(c.box(), coordinates(at, i), tensor, kernels::kTensorBackground);
    for (int n = 0; n < times; ++n) all.insert(all.end(), image.begin(), image.end());
  }
  return all;
}

void loads_match_the_index_model(const TensorCopy& copy, const CopyCase& c) {
  const TensorBox b = c.box();
  REQUIRE_LAW(kernels::tensor_image_bytes(c.shape) == reference::image_bytes(b) &&
                  kernels::tensor_copied_bytes(c.shape) == reference::copied_bytes(b) &&
                  kernels::tensor_memory_bytes(c.shape) == reference::memory_bytes(b),
              "an image has {} bytes, a copy {}, the tensor {}; by the model {}, {} and {}",
              kernels::tensor_image_bytes(c.shape), kernels::tensor_copied_bytes(c.shape),
              kernels::tensor_memory_bytes(c.shape), reference::image_bytes(b), reference::copied_bytes(b),
              reference::memory_bytes(b));
  const Contents contents = load_contents(c);
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"),
                        expected_images(c, contents.at, c.tensor()));
}

void every_block_of_a_multicast_has_the_box(const TensorCopy& copy, const CopyCase& c) {
  const Contents contents = load_contents(c);
  REQUIRE_BITWISE_EQUAL(multicast_call(c, contents).run(copy).take<unsigned char>("images"),
                        expected_images(c, contents.at, c.tensor(), c.cluster));
}

void stores_match_the_index_model(const TensorCopy& copy, const StoreCase& c) {
  const Contents contents = store_contents(c);
  const std::int64_t image = reference::image_bytes(c.box());
  List expected = contents.at.empty() ? List() : c.tensor();
  const List images = contents.images();
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    reference::tensor_store(c.box(), coordinates(contents.at, i), std::span(images).subspan(i * image, image),
                            expected);
  }
  REQUIRE_BITWISE_EQUAL(store_call(c, contents).run(copy).take<unsigned char>("tensor"), expected);
}

template <class T, class Number>
void reduce(const CopyCase& c, const Coordinates& at, std::span<const std::uint8_t> image,
            std::span<std::uint8_t> memory, Number number) {
  reference::tensor_reduce<T>(c.box(), at, image, memory, [&](T a, T b) -> T {
    switch (c.reduction) {
      case TensorReduction::kAdd:
        return number.add(a, b);
      case TensorReduction::kMin:
        return number.less(b, a) ? b : a;
      case TensorReduction::kMax:
        return number.less(a, b) ? b : a;
      case TensorReduction::kAnd:
        return number.bits(a, b, std::bit_and());
      case TensorReduction::kOr:
        return number.bits(a, b, std::bit_or());
      case TensorReduction::kXor:
        return number.bits(a, b, std::bit_xor());
    }
    throw std::logic_error("a reduction without a reference");
  });
}

template <class T>
struct Integers {
  static T add(T a, T b) { return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b)); }
  static bool less(T a, T b) { return a < b; }
  template <class F>
  static T bits(T a, T b, F f) {
    return f(a, b);
  }
};
// Small integers, whose sums every format has.
template <class T>
struct Floats {
  double (*value)(T);
  T (*of)(double);
  T add(T a, T b) const { return of(value(a) + value(b)); }
  bool less(T a, T b) const { return value(a) < value(b); }
  template <class F>
  T bits(T, T, F) const {
    throw std::logic_error("bits of numbers");
  }
};

void reduce(const CopyCase& c, const Coordinates& at, std::span<const std::uint8_t> image,
            std::span<std::uint8_t> memory) {
  switch (c.shape.element) {
    case TensorElement::kU32:
      return reduce<std::uint32_t>(c, at, image, memory, Integers<std::uint32_t>());
    case TensorElement::kS32:
      return reduce<std::int32_t>(c, at, image, memory, Integers<std::int32_t>());
    case TensorElement::kU64:
      return reduce<std::uint64_t>(c, at, image, memory, Integers<std::uint64_t>());
    case TensorElement::kF16:
      return reduce<Half>(c, at, image, memory, Floats<Half>{to_double, to_half});
    case TensorElement::kF32:
      return reduce<float>(
          c, at, image, memory,
          Floats<float>{[](float f) { return double{f}; }, [](double v) { return static_cast<float>(v); }});
    case TensorElement::kBF16:
      return reduce<std::uint16_t>(
          c, at, image, memory,
          Floats<std::uint16_t>{
              [](std::uint16_t bits) { return double{std::bit_cast<float>(std::uint32_t{bits} << 16)}; },
              [](double v) {
                return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16);
              }});
    default:
      throw std::logic_error("a type without reductions");
  }
}

// Copies that meet, too: all of these operations commute.
void reductions_match_the_index_model(const TensorCopy& copy, const ReduceCase& c) {
  Contents contents = store_contents(c, true);
  contents.at.insert(contents.at.end(), contents.at.begin(), contents.at.end());
  contents.images = [&c, n = contents.at.size() / 5] { return images_of(c, static_cast<std::int64_t>(n), true); };
  const std::int64_t image = reference::image_bytes(c.box());
  List expected = contents.at.empty() ? List() : contents.tensor();
  const List images = contents.images();
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    reduce(c, coordinates(contents.at, i), std::span(images).subspan(i * image, image), expected);
  }
  REQUIRE_BITWISE_EQUAL(reduce_call(c, contents).run(copy).take<unsigned char>("tensor"), expected);
}

// All boxes of the tensor, loaded from one and stored to another: what lies in it arrives, and what does not stays, but
// for the rest of a row's last piece, which a store writes with what the load has filled it with.
void what_is_loaded_and_stored_is_the_same(const TensorCopy& copy, const TileCase& given) {
  TileCase c = given;
  for (int& step : c.shape.steps) step = 1;
  Coordinates boxes = {1, 1, 1, 1, 1};
  std::int64_t all = 1;
  for (int d = 0; d < c.shape.rank; ++d) {
    boxes[d] = (c.shape.sizes[d] - 1) / c.reach(d) + 1;
    all *= boxes[d];
  }
  if (all > 64) return;
  Contents contents;
  for (std::int64_t i = 0; i < all; ++i) {
    std::int64_t n = i;
    for (int d = 0; d < 5; ++d) {
      contents.at.push_back(static_cast<std::int32_t>(n % boxes[d] * c.reach(d)));
      n /= boxes[d];
    }
  }
  const List tensor = c.tensor();
  contents.tensor = [&] { return tensor; };
  const List images = load_call(c, contents).run(copy).take<unsigned char>("images").fetch();
  const List before(tensor.size(), 0x3c);
  contents.tensor = [&] { return before; };
  contents.images = [&] { return images; };

  List expected = before;
  const TensorShape& s = c.shape;
  const std::int64_t unit = s.interleave != TensorInterleave::kNone ? c.grain() : bytes_of(s.element);
  const std::int64_t row = s.sizes[0] * unit, whole = (row + kPiece - 1) / kPiece * kPiece;
  std::int64_t lines = 1;
  for (int d = 1; d < s.rank; ++d) lines *= s.sizes[d];
  for (std::int64_t line = 0; line < lines; ++line) {
    std::int64_t at = 0, n = line;
    for (int d = 1; d < s.rank; ++d) {
      at += n % s.sizes[d] * s.strides[d - 1];
      n /= s.sizes[d];
    }
    std::copy_n(tensor.begin() + at, row, expected.begin() + at);
    for (std::int64_t i = row; i < whole; ++i)
      expected[at + i] = s.fill == TensorFill::kZeros ? 0 : i % 2 == 0 ? 0xf7 : 0x7f;
  }
  REQUIRE_BITWISE_EQUAL(store_call(c, contents).run(copy).take<unsigned char>("tensor"), expected);
}

// Boxes as wide as what is swizzled: of the same bytes, each where the pattern says; and twice, where it was.
void a_swizzle_moves_pieces_and_nothing_else(const TensorCopy& copy, const TileCase& given) {
  TileCase c = given;
  if (c.shape.interleave != TensorInterleave::kNone) c.shape.interleave = TensorInterleave::kNone;
  if (c.shape.swizzle == TensorSwizzle::kNone) c.shape.swizzle = TensorSwizzle::k128;
  c.pieces = 1 << static_cast<int>(c.shape.swizzle);
  c.normalise();
  TileCase plain = c;
  plain.shape.swizzle = TensorSwizzle::kNone;
  const Contents contents = load_contents(c);
  const List as_it_is = load_call(plain, contents).run(copy).take<unsigned char>("images").fetch();
  const std::int64_t image = reference::image_bytes(c.box()), span = c.box().swizzle_bytes;
  List moved(as_it_is.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(moved.size()); ++i) {
    const std::int64_t in_image = i % image, to = reference::swizzled(in_image, span);
    REQUIRE_LAW(reference::swizzled(to, span) == in_image, "byte {} goes to {}, and that elsewhere", in_image, to);
    const bool copied = in_image >= c.shape.to && in_image < c.shape.to + reference::copied_bytes(c.box());
    moved[i - in_image + (copied ? to : in_image)] = as_it_is[i];
  }
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"), moved);
}

// All of it beyond the tensor, on whichever side.
void nothing_of_the_tensor_is_fill(const TensorCopy& copy, const TileCase& c) {
  Contents contents = load_contents(c);
  Bits bits(c.places ^ 1);
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    const int d = static_cast<int>(bits.below(c.shape.rank));
    const std::int64_t grain = d == 0 ? c.coordinate_grain() : 1, before = -(c.reach(d) + grain - 1) / grain * grain;
    const std::int64_t after = (c.shape.sizes[d] + grain - 1) / grain * grain;
    // A box that begins so far before goes to the last coordinate before the tensor; steps end before it.
    contents.at[5 * i + d] = static_cast<std::int32_t>(bits.chance(50) ? before : after);
  }
  const TensorBox b = c.box();
  List expected;
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    const reference::TensorPlaces places =
        reference::tensor_places(b, coordinates(contents.at, i), TensorDirection::kLoad);
    for (Eigen::Index k = 0; k < places.size(); ++k) {
      const unsigned char fill = c.shape.fill == TensorFill::kZeros ? 0 : k % 2 == 0 ? 0xf7 : 0x7f;
      expected.push_back(places[k] == reference::kNotCopied ? kernels::kTensorBackground : fill);
    }
  }
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"), expected);
}

// More shared memory than a block has without asking.
void large_boxes_fit(const TensorCopy& copy, const TileCase& given) {
  TileCase c = given;
  TensorShape& s = c.shape;
  s = TensorShape{.element = TensorElement::kU32, .rank = 2};
  c.pieces = 64, c.width = 300, c.count = std::min(std::max(given.count, 1), 2);
  s.sizes[1] = 70, s.to = given.shape.to, s.fill = TensorFill::kZeros;
  c.normalise();
  s.box[1] = 64;
  const Contents contents = load_contents(c);
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"),
                        expected_images(c, contents.at, c.tensor()));
  c.cluster = 2;
  every_block_of_a_multicast_has_the_box(copy, c);
  StoreCase stored;
  static_cast<CopyCase&>(stored) = c;
  stores_match_the_index_model(copy, stored);
  ReduceCase reduced;
  static_cast<CopyCase&>(reduced) = c;
  reductions_match_the_index_model(copy, reduced);
}

// Also where one block makes one copy after the other.
void is_deterministic(const TensorCopy& copy, const SmallCase& given) {
  constexpr int kSchedules = 20;
  SmallCase c = given;
  c.count = 3, c.shape.max_blocks = 1;
  const Contents load = load_contents(c), store = store_contents(c), reduce = store_contents(c, true);
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return load_call(c, load).run(copy).take<unsigned char>("images").fetch(); });
  REQUIRE_DETERMINISTIC(kSchedules,
                        [&] { return multicast_call(c, load).run(copy).take<unsigned char>("images").fetch(); });
  REQUIRE_DETERMINISTIC(kSchedules,
                        [&] { return store_call(c, store).run(copy).take<unsigned char>("tensor").fetch(); });
  REQUIRE_DETERMINISTIC(kSchedules,
                        [&] { return reduce_call(c, reduce).run(copy).take<unsigned char>("tensor").fetch(); });
}

// Of so many dimensions: two boxes within the tensor that do not meet, whose coordinates and offsets all differ from
// their neighbours.
CopyCase of_dimensions(const CopyCase& given, int rank, bool im2col) {
  CopyCase c;
  c.cluster = 2, c.tensor_offset = given.tensor_offset, c.poison = given.poison, c.values = given.values;
  c.values.kind = ValueKind::kWide;
  TensorShape& s = c.shape;
  constexpr std::int64_t kSizes[] = {16, 6, 5, 4, 4};
  constexpr int kOffsets[] = {2, 1, 1};
  std::int64_t stride = 4;
  s.rank = rank, s.im2col = im2col, s.channels = 4, s.pixels = 3, s.to = 128, s.max_blocks = given.shape.max_blocks;
  for (int d = 0; d < 5; ++d) {
    s.sizes[d] = kSizes[d], s.box[d] = d == 0 ? 4 : 2;
    stride *= s.sizes[d];
    if (d < 4) s.strides[d] = stride;
  }
  std::copy_n(kOffsets, 3, s.offsets);
  return c;
}

// Each number of dimensions has instructions of its own, and so has each operation.
void each_instruction_matches_the_index_model(const TensorCopy& copy, const CopyCase& given) {
  const Places at = {4, 1, 3, 0, 2, 8, 2, 1, 3, 0};
  for (int rank = 1; rank <= 5; ++rank) {
    for (const bool im2col : {false, true}) {
      if (im2col && rank < 3) continue;
      const CopyCase c = of_dimensions(given, rank, im2col);
      const Contents load = {[&] { return c.tensor(); }, nullptr, at};
      REQUIRE_BITWISE_EQUAL(load_call(c, load).run(copy).take<unsigned char>("images"),
                            expected_images(c, at, c.tensor()));
      REQUIRE_BITWISE_EQUAL(multicast_call(c, load).run(copy).take<unsigned char>("images"),
                            expected_images(c, at, c.tensor(), c.cluster));
      const std::int64_t image = reference::image_bytes(c.box());
      const List images = images_of(c, 2, false);
      const Contents store = {[&] { return c.tensor(); }, [&] { return images; }, at};
      const auto each_image = [&](auto use) {
        List expected = c.tensor();
        for (std::size_t i = 0; i < 2; ++i)
          use(coordinates(at, i), std::span(images).subspan(i * image, image), expected);
        return expected;
      };
      REQUIRE_BITWISE_EQUAL(store_call(c, store).run(copy).take<unsigned char>("tensor"),
                            each_image([&](const Coordinates& to, auto from, List& all) {
                              reference::tensor_store(c.box(), to, from, all);
                            }));
      for (int operation = 0; operation < 6 && !im2col; ++operation) {
        CopyCase r = c;
        r.reduction = static_cast<TensorReduction>(operation);
        REQUIRE_BITWISE_EQUAL(
            reduce_call(r, store).run(copy).take<unsigned char>("tensor"),
            each_image([&](const Coordinates& to, auto from, List& all) { reduce(r, to, from, all); }));
      }
    }
  }
}

// A law that needs copies through tensor maps, which it says before it makes its first case.
Law<TensorCopy> where_there_are_tensor_copies(Law<TensorCopy> law) {
  law.judge = [judge = std::move(law.judge)](std::string_view name, const TensorCopy& copy,
                                             const PropertyOptions& options) {
    PropertyOptions once;  // a case that is named is one of the law's
    once.cases = 1;
    PropertyResult there = run_property<CopyCase>(
        name, [](const CopyCase&) { require_capability({Capability::kTensorCopies}); }, once);
    return there.not_applicable ? there : judge(name, copy, options);
  };
  return law;
}

}  // namespace

Laws<TensorCopy> tensor_copy_laws() {
  Laws<TensorCopy> laws = with_batteries<calls_of, SmallCase>({
      law("LoadsMatchTheIndexModel", loads_match_the_index_model, {.cases = 400}),
      law("StoresMatchTheIndexModel", stores_match_the_index_model, {.cases = 250}),
      law("ReductionsMatchTheIndexModel", reductions_match_the_index_model, {.cases = 150}),
      law("EachInstructionMatchesTheIndexModel", each_instruction_matches_the_index_model, {.cases = 2, .cost = 50}),
      law("EveryBlockOfAMulticastHasTheBox", every_block_of_a_multicast_has_the_box, {.cases = 80, .cost = 2}),
      law("WhatIsLoadedAndStoredIsTheSame", what_is_loaded_and_stored_is_the_same, {.cases = 60, .cost = 4}),
      law("ASwizzleMovesPiecesAndNothingElse", a_swizzle_moves_pieces_and_nothing_else, {.cases = 60, .cost = 2}),
      no_work_law<calls_of, SmallCase, &CopyCase::count>("LaunchesNothingForNoWork", {.cases = 20, .cost = 8}),
      refusal_law<calls_of, SmallCase>("RefusesBadArguments", {.cases = 12, .cost = 25}),
      refusal_law<column_calls_of, StoreCase>("RefusesBadColumns", {.cases = 10, .cost = 25}),
      law("NothingOfTheTensorIsFill", nothing_of_the_tensor_is_fill, {.cases = 80}),
      law("LargeBoxesFit", large_boxes_fit, {.cases = 2, .cost = 50}),
      law("IsDeterministic", is_deterministic, {.cases = 3, .cost = 40}),
  });
  for (auto& law : laws) law = where_there_are_tensor_copies(std::move(law));
  return laws;
}

}  // namespace lockstep::properties
