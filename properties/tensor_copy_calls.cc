#include "properties/tensor_copy_calls.h"

#include <limits>
#include <string>
#include <type_traits>

namespace lockstep::properties {
namespace {

constexpr Whole kMostElements = Whole{1} << 32;
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

template <class E>
void describe_choice(Call<TensorCopy>& call, const char* name, E last, E& at) {
  using T = std::underlying_type_t<E>;
  // The other values are legal, but not with this box and tensor.
  call.integer(name, {.least = 0, .most = static_cast<T>(last), .here = {static_cast<T>(at)}},
               reinterpret_cast<T&>(at));
}

// A box with so many rows in its second and third dimension that it fills the largest image.
void describe_largest_box(Call<TensorCopy>& call, const TensorCopyCase& c, TensorShape& s) {
  constexpr int kSpan[] = {0, 32, 64, 128}, kSide = 256, kGrain = 128;
  call.mistake("more_than_a_block_has",
               [&s] { s.box[1] = s.box[2] = kSide, s.steps[1] = s.steps[2] = 1; });
  const std::int64_t pitch = std::max<std::int64_t>(c.shape.box[0] * bytes_of(c.shape.element),
                                                    kSpan[static_cast<int>(c.shape.swizzle)]);
  const auto fits = [pitch, to = c.shape.to](std::int64_t rows) {
    return (to + rows * pitch + kGrain - 1) / kGrain * kGrain + kGrain <=
           kernels::kMostTensorImageBytes;
  };
  std::int64_t third = 1, second = kSide;
  while (fits(kSide * third)) ++third;
  while (!fits(second * third)) --second;
  const auto set = [&s, third](std::int64_t value) {
    for (int d = 1; d < s.rank; ++d) s.steps[d] = s.box[d] = 1;
    s.box[1] = static_cast<int>(value), s.box[2] = static_cast<int>(third);
  };
  call.together("rows_of_a_box", second, set);
  // Between the limit without opt-in and the largest image.
  call.promise("half_of_the_rows", [set, second] { set((second + 1) / 2); });
}

// `stores`: with a box of pixels inside the tensor.
void describe_shape(Call<TensorCopy>& call, const TensorCopyCase& c, TensorShape& s,
                    bool stores = false) {
  const bool sliced = s.interleave != TensorInterleave::kNone;
  describe_choice(call, "element", TensorElement::kF64, s.element);
  describe_choice(call, "interleave", TensorInterleave::k32, s.interleave);
  describe_choice(call, "swizzle", TensorSwizzle::k128, s.swizzle);
  describe_choice(call, "fill", TensorFill::kNaN, s.fill);
  const auto number = [&](const std::string& name, auto& at, Whole least, Whole most,
                          Whole step = 1) {
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
    number("strides" + std::to_string(d - 1), s.strides[d - 1],
           (below + c.grain() - 1) / c.grain() * c.grain(), (Whole{1} << 40) - c.grain(),
           c.grain());
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
      // Corners that enlarge the box are legal with every other value.
      const Whole least = stores ? 0 : -corner - 1, most = stores ? 0 : corner;
      call.integer("lower" + n, {.least = least, .most = corner, .here = {least, s.lower[d]}},
                   s.lower[d]);
      call.integer("upper" + n, {.least = -corner - 1, .most = most, .here = {s.upper[d], most}},
                   s.upper[d]);
      call.integer("offsets" + n, {0, offset}, s.offsets[d]);
    }
    number("channels", s.channels, 1, 256);
    number("pixels", s.pixels, 1, 1024);
    call.mistake("no_pixels", [&s] { s.upper[0] = static_cast<int>(s.lower[0] - s.sizes[1]); });
    call.mistake("odd_channels", [&s] { --s.channels; });
    call.mistake("sliced_pixels", [&s] { s.interleave = TensorInterleave::k16; });
  } else {
    call.mistake("odd_box", [&s] { --s.box[0]; });
    if (s.rank >= 3 && !sliced) describe_largest_box(call, c, s);
  }
  if (!is_floating(s.element)) call.mistake("integers_of_nan", [&s] { s.fill = TensorFill::kNaN; });
  if (sliced)
    call.mistake("slices_of_32_not_swizzled",
                 [&s] { s.interleave = TensorInterleave::k32, s.swizzle = TensorSwizzle::kNone; });
  call.integer("to", {.least = 0, .most = 896, .step = 128, .here = {s.to}}, s.to);
  call.integer("block", {1, 1024}, s.block);
  call.integer("max_blocks", {1, kUnlimited}, s.max_blocks);
  call.immaterial("block"), call.immaterial("max_blocks");
  for (int d = 1; d < s.rank; ++d) {
    // A dimension of one has no step.
    const Whole widest = (Whole{1} << 40) - c.grain();
    if (s.sizes[d] == 1 && s.box[d] == 1 && !s.im2col)
      call.immaterial("strides" + std::to_string(d - 1),
                      {widest, widest / 2 / c.grain() * c.grain()});
  }
  if (!sliced && !s.im2col) call.immaterial("steps0", {1, 2, 8});  // which applies to slices alone
  // Values beyond the rank are ignored.
  const auto unseen = [&](const std::string& name, auto& at) {
    constexpr Whole kLeast = std::numeric_limits<std::remove_reference_t<decltype(at)>>::min();
    constexpr Whole kMost = std::numeric_limits<std::remove_reference_t<decltype(at)>>::max();
    call.integer(name, {.least = kLeast, .most = kMost, .here = {kLeast, 0}}, at);
    call.immaterial(name);
  };
  for (int d = s.rank; d < 5; ++d) {
    const std::string n = std::to_string(d);
    unseen("sizes" + n, s.sizes[d]), unseen("strides" + std::to_string(d - 1), s.strides[d - 1]);
    unseen("steps" + n, s.steps[d]), unseen("box" + n, s.box[d]);
  }
  call.grid({.threads = s.block, .most_blocks = s.max_blocks});
  call.reads(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

// The shape determines the legal coordinates: equally many coordinates of another shape do not fit.
std::int64_t number_of(const TensorShape& s) {
  std::uint64_t n = 0;
  const auto add = [&n](auto value) { n = mix(n ^ static_cast<std::uint64_t>(value)); };
  add(s.rank), add(s.element), add(s.interleave), add(s.im2col), add(s.channels), add(s.pixels);
  for (const auto v : s.sizes) add(v);
  for (const auto v : s.strides) add(v);
  for (const auto v : s.steps) add(v);
  for (const auto v : s.box) add(v);
  for (const auto v : s.lower) add(v);
  for (const auto v : s.upper) add(v);
  return static_cast<std::int64_t>(n >> 2);
}

// A stride of the tensor separates the rows of all dimensions above it.
void describe_strides(Call<TensorCopy>& call, const TensorCopyCase& c, TensorShape& s) {
  const TensorShape& own = c.shape;
  const std::int64_t grain = c.grain(), unit = own.interleave != TensorInterleave::kNone
                                                   ? grain
                                                   : bytes_of(own.element);
  const std::int64_t row = (own.sizes[0] * unit + kPiece - 1) / kPiece * kPiece;
  const auto least = [own, row, grain](int d, const std::int64_t(&strides)[4]) {
    std::int64_t below = row;
    for (int e = 1; e < d; ++e) below += (own.sizes[e] - 1) * strides[e - 1];
    return (below + grain - 1) / grain * grain;
  };
  for (int d = 1; d < own.rank; ++d) {
    if (own.sizes[d] < 2) continue;
    const Range legal = {least(d, own.strides), (Whole{1} << 40) - grain, grain};
    call.spread("tensor", "strides" + std::to_string(d - 1), legal, [=, &s](std::int64_t value) {
      s.strides[d - 1] = value;
      for (int e = d + 1; e < own.rank; ++e)
        s.strides[e - 1] = std::max(own.strides[e - 1], least(e, s.strides));
      std::int64_t rows = 1;
      for (int e = 1; e < own.rank; ++e) rows *= own.sizes[e];
      std::vector<Piece> pieces;
      for (std::int64_t i = 0; i < rows; ++i) {
        Piece piece = {0, row, 0};
        std::int64_t n = i;
        for (int e = 1; e < own.rank; ++e) {
          piece.first += n % own.sizes[e] * own.strides[e - 1],
              piece.to += n % own.sizes[e] * s.strides[e - 1];
          n /= own.sizes[e];
        }
        pieces.push_back(piece);
      }
      return pieces;
    });
  }
}

template <class Tensor, class Images>
void describe_arrays(Call<TensorCopy>& call, const TensorCopyCase& c, Tensor*& tensor,
                     const std::int32_t*& at, std::int64_t& count, Images*& images,
                     const CopyContents& contents, int images_a_copy = 1) {
  const TensorBox b = c.box();
  const std::int64_t n = count, image = reference::image_bytes(b) * images_a_copy;
  const bool loads = std::is_const_v<Tensor>;
  call.integer("count", {0, kAny / image}, count);
  const Footprint of_tensor = {.count = n > 0 ? reference::memory_bytes(b) : 0,
                               .alignment = static_cast<std::size_t>(c.grain())},
                  of_images = {.count = n * image, .alignment = 16};
  const Layout tensor_layout = {32 * c.tensor_offset, c.poison},
               images_layout = {16 * c.images_offset, c.poison};
  const auto tensor_bytes = [n, make = contents.tensor] { return n > 0 ? make() : ByteList(); };
  if constexpr (std::is_const_v<Tensor>) {
    call.input("tensor", tensor, of_tensor, tensor_layout, tensor_bytes);
    call.template output<unsigned char>("images", images, of_images, images_layout);
  } else {
    call.in_out("tensor", tensor, of_tensor, tensor_layout, tensor_bytes);
    call.input("images", images, of_images, images_layout, contents.images);
  }
  call.input("at", at, {.count = 5 * n, .room = number_of(c.shape)}, {c.at_offset, c.poison},
             [at = contents.at] { return at; });
  // Copies of the same places twice: for loads alone.
  if (loads && n > 0 && c.shape.max_blocks == kUnlimited)
    call.lengthens("count", 1, kUnlimited / images_a_copy, {{"at", 5}, {"images", image}});
  call.apart("tensor", "images");
  if (!loads) call.apart("tensor", "at");
}

}  // namespace

Call<TensorCopy> load_call(const TensorCopyCase& c, const CopyContents& contents) {
  Call<TensorCopy> call("tensor_load");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [shape, tensor, at, n, images] =
      call.arguments(&TensorCopy::load, c.shape, nullptr, nullptr, count, nullptr);
  describe_shape(call, c, shape);
  describe_arrays(call, c, tensor, at, n, images, contents);
  if (count > 0) describe_strides(call, c, shape);
  return call;
}

Call<TensorCopy> multicast_call(const TensorCopyCase& c, const CopyContents& contents) {
  Call<TensorCopy> call("tensor_multicast");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [shape, cluster, tensor, at, n, images] =
      call.arguments(&TensorCopy::multicast, c.shape, c.cluster, nullptr, nullptr, count, nullptr);
  describe_shape(call, c, shape);
  call.integer("cluster", {.only = {2, 4, 8}, .here = {cluster}}, cluster);
  describe_arrays(call, c, tensor, at, n, images, contents, c.cluster);
  if (count > 0) describe_strides(call, c, shape);
  return call;
}

Call<TensorCopy> store_call(const TensorCopyCase& c, const CopyContents& contents) {
  Call<TensorCopy> call("tensor_store");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [shape, tensor, at, n, images] =
      call.arguments(&TensorCopy::store, c.shape, nullptr, nullptr, count, nullptr);
  describe_shape(call, c, shape, /*stores=*/true);
  if (c.shape.im2col)
    call.mistake("a_corner_outside", [&s = shape] { s.lower[0] = -1, s.upper[0] = 0; });
  describe_arrays(call, c, tensor, at, n, images, contents);
  if (count > 0) describe_strides(call, c, shape);
  return call;
}

Call<TensorCopy> reduce_call(const TensorCopyCase& c, const CopyContents& contents) {
  Call<TensorCopy> call("tensor_reduce");
  const auto count = static_cast<std::int64_t>(contents.at.size() / 5);
  auto& [reduction, shape, tensor, at, n, images] =
      call.arguments(&TensorCopy::reduce, c.reduction, c.shape, nullptr, nullptr, count, nullptr);
  describe_choice(call, "reduction", TensorReduction::kXor, reduction);
  describe_shape(call, c, shape);
  if (is_floating(c.shape.element))
    call.mistake("bits_of_numbers", [&r = reduction] { r = TensorReduction::kAnd; });
  if (is_wide(c.shape.element))
    call.mistake("least_of_wide_numbers", [&r = reduction] { r = TensorReduction::kMin; });
  describe_arrays(call, c, tensor, at, n, images, contents);
  if (count > 0) describe_strides(call, c, shape);
  return call;
}

ByteList images_of(const TensorCopyCase& c, std::int64_t count, bool small) {
  return c.values_for(count * reference::image_bytes(c.box()), kImages, small);
}

CopyContents load_contents(const TensorCopyCase& c) {
  return {[c] { return c.tensor(); }, nullptr, c.load_places()};
}
CopyContents store_contents(const TensorCopyCase& c, bool small) {
  CopyContents contents = {
      [c, small] { return c.values_for(reference::memory_bytes(c.box()), kTensor, small); },
      nullptr, c.store_places()};
  contents.images = [c, n = contents.at.size() / 5, small] {
    return images_of(c, static_cast<std::int64_t>(n), small);
  };
  return contents;
}

namespace {

// Whether a store, or a reduction, accepts the case.
bool is_stored(const TensorCopyCase& c) {
  const auto beyond = [&](int d) { return c.shape.lower[d] < 0 || c.shape.upper[d] > 0; };
  return !c.shape.im2col || !(beyond(0) || beyond(1) || beyond(2));
}
bool is_reduced(const TensorCopyCase& c) {
  TensorReduceCase reduced;
  static_cast<TensorCopyCase&>(reduced) = c;
  reduced.normalise();
  return !c.shape.im2col && reduced.shape.element == c.shape.element &&
         reduced.reduction == c.reduction;
}

}  // namespace

Calls<TensorCopy> calls_of(const SmallTensorCopyCase& drawn) {
  SmallTensorCopyCase c = drawn;
  c.normalise();  // a case that is still being drawn must supply its mistakes
  Calls<TensorCopy> calls;
  calls.push_back(load_call(c, load_contents(c)));
  calls.push_back(multicast_call(c, load_contents(c)));
  if (is_stored(c)) calls.push_back(store_call(c, store_contents(c)));
  if (is_reduced(c)) calls.push_back(reduce_call(c, store_contents(c, true)));
  return calls;
}

Calls<TensorCopy> column_calls_of(const TensorStoreCase& drawn) {
  TensorStoreCase c = drawn;
  c.normalise();
  Calls<TensorCopy> calls;
  calls.push_back(load_call(c, load_contents(c)));
  calls.push_back(store_call(c, store_contents(c)));
  return calls;
}

}  // namespace lockstep::properties
