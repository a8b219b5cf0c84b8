#include "properties/tensor_copy.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "properties/contract_laws.h"
#include "properties/tensor_copy_calls.h"

namespace lockstep::properties {
namespace {

using reference::TensorDirection;

Coordinates coordinates(const CopyPlaces& at, std::size_t i) {
  Coordinates c;
  for (int d = 0; d < 5; ++d) c[d] = at[5 * i + d];
  return c;
}

// The images after loads at these places, each repeated `times` times.
ByteList expected_images(const TensorCopyCase& c, const CopyPlaces& at, const ByteList& tensor,
                         int times = 1) {
  ByteList all;
  for (std::size_t i = 0; 5 * i < at.size(); ++i) {
    const reference::TensorBytes image =
        reference::tensor_load(c.box(), coordinates(at, i), tensor, kernels::kTensorBackground);
    for (int n = 0; n < times; ++n) all.insert(all.end(), image.begin(), image.end());
  }
  return all;
}

void loads_match_the_index_model(const TensorCopy& copy, const TensorCopyCase& c) {
  const TensorBox b = c.box();
  REQUIRE_LAW(kernels::tensor_image_bytes(c.shape) == reference::image_bytes(b) &&
                  kernels::tensor_copied_bytes(c.shape) == reference::copied_bytes(b) &&
                  kernels::tensor_memory_bytes(c.shape) == reference::memory_bytes(b),
              "an image has {} bytes, a copy {}, the tensor {}; by the model {}, {} and {}",
              kernels::tensor_image_bytes(c.shape), kernels::tensor_copied_bytes(c.shape),
              kernels::tensor_memory_bytes(c.shape), reference::image_bytes(b),
              reference::copied_bytes(b), reference::memory_bytes(b));
  const CopyContents contents = load_contents(c);
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"),
                        expected_images(c, contents.at, c.tensor()));
}

void every_block_of_a_multicast_has_the_box(const TensorCopy& copy, const TensorCopyCase& c) {
  const CopyContents contents = load_contents(c);
  REQUIRE_BITWISE_EQUAL(multicast_call(c, contents).run(copy).take<unsigned char>("images"),
                        expected_images(c, contents.at, c.tensor(), c.cluster));
}

void stores_match_the_index_model(const TensorCopy& copy, const TensorStoreCase& c) {
  const CopyContents contents = store_contents(c);
  const std::int64_t image = reference::image_bytes(c.box());
  ByteList expected = contents.at.empty() ? ByteList() : c.tensor();
  const ByteList images = contents.images();
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    reference::tensor_store(c.box(), coordinates(contents.at, i),
                            std::span(images).subspan(i * image, image), expected);
  }
  REQUIRE_BITWISE_EQUAL(store_call(c, contents).run(copy).take<unsigned char>("tensor"), expected);
}

template <class T, class Number>
void reduce(const TensorCopyCase& c, const Coordinates& at, std::span<const std::uint8_t> image,
            std::span<std::uint8_t> memory, Number number) {
  reference::tensor_reduce<T>(c.box(), at, image, memory, [&](T a, T b) -> T {
    switch (c.reduction) {
      case TensorReduction::kAdd: return number.add(a, b);
      case TensorReduction::kMin: return number.less(b, a) ? b : a;
      case TensorReduction::kMax: return number.less(a, b) ? b : a;
      case TensorReduction::kAnd: return number.bits(a, b, std::bit_and());
      case TensorReduction::kOr: return number.bits(a, b, std::bit_or());
      case TensorReduction::kXor: return number.bits(a, b, std::bit_xor());
    }
    throw std::logic_error("a reduction without a reference");
  });
}

template <class T>
struct Integers {
  static T add(T a, T b) {
    return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  }
  static bool less(T a, T b) { return a < b; }
  template <class F>
  static T bits(T a, T b, F f) {
    return f(a, b);
  }
};
// Small integers, whose sums are exact in every format.
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

void reduce(const TensorCopyCase& c, const Coordinates& at, std::span<const std::uint8_t> image,
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
      return reduce<float>(c, at, image, memory,
                           Floats<float>{[](float f) { return double{f}; },
                                         [](double v) { return static_cast<float>(v); }});
    case TensorElement::kBF16:
      return reduce<std::uint16_t>(
          c, at, image, memory,
          Floats<std::uint16_t>{[](std::uint16_t bits) {
                                  return double{std::bit_cast<float>(std::uint32_t{bits} << 16)};
                                },
                                [](double v) {
                                  return static_cast<std::uint16_t>(
                                      std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16);
                                }});
    default: throw std::logic_error("a type without reductions");
  }
}

// Copies may overlap, because all of these operations commute.
void reductions_match_the_index_model(const TensorCopy& copy, const TensorReduceCase& c) {
  CopyContents contents = store_contents(c, true);
  contents.at.insert(contents.at.end(), contents.at.begin(), contents.at.end());
  contents.images = [&c, n = contents.at.size() / 5] {
    return images_of(c, static_cast<std::int64_t>(n), true);
  };
  const std::int64_t image = reference::image_bytes(c.box());
  ByteList expected = contents.at.empty() ? ByteList() : contents.tensor();
  const ByteList images = contents.images();
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    reduce(c, coordinates(contents.at, i), std::span(images).subspan(i * image, image), expected);
  }
  REQUIRE_BITWISE_EQUAL(reduce_call(c, contents).run(copy).take<unsigned char>("tensor"), expected);
}

// Loads all boxes of a tensor and stores them to another. Elements in the boxes must arrive. Other
// elements must be unchanged, except for the rest of a row's last piece, which a store writes with
// the load's fill.
void what_is_loaded_and_stored_is_the_same(const TensorCopy& copy, const TensorTileCase& given) {
  TensorTileCase c = given;
  for (int& step : c.shape.steps) step = 1;
  Coordinates boxes = {1, 1, 1, 1, 1};
  std::int64_t all = 1;
  for (int d = 0; d < c.shape.rank; ++d) {
    boxes[d] = (c.shape.sizes[d] - 1) / c.reach(d) + 1;
    all *= boxes[d];
  }
  if (all > 64) return;
  CopyContents contents;
  for (std::int64_t i = 0; i < all; ++i) {
    std::int64_t n = i;
    for (int d = 0; d < 5; ++d) {
      contents.at.push_back(static_cast<std::int32_t>(n % boxes[d] * c.reach(d)));
      n /= boxes[d];
    }
  }
  const ByteList tensor = c.tensor();
  contents.tensor = [&] { return tensor; };
  const ByteList images = load_call(c, contents).run(copy).take<unsigned char>("images").fetch();
  const ByteList before(tensor.size(), 0x3c);
  contents.tensor = [&] { return before; };
  contents.images = [&] { return images; };

  ByteList expected = before;
  const TensorShape& s = c.shape;
  const std::int64_t unit =
      s.interleave != TensorInterleave::kNone ? c.grain() : bytes_of(s.element);
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

// Boxes as wide as the swizzle: they must have the same bytes, permuted by the pattern; swizzled
// twice, at their original places.
void a_swizzle_moves_pieces_and_nothing_else(const TensorCopy& copy, const TensorTileCase& given) {
  TensorTileCase c = given;
  if (c.shape.interleave != TensorInterleave::kNone) c.shape.interleave = TensorInterleave::kNone;
  if (c.shape.swizzle == TensorSwizzle::kNone) c.shape.swizzle = TensorSwizzle::k128;
  c.pieces = 1 << static_cast<int>(c.shape.swizzle);
  c.normalise();
  TensorTileCase plain = c;
  plain.shape.swizzle = TensorSwizzle::kNone;
  const CopyContents contents = load_contents(c);
  const ByteList as_it_is =
      load_call(plain, contents).run(copy).take<unsigned char>("images").fetch();
  const std::int64_t image = reference::image_bytes(c.box()), span = c.box().swizzle_bytes;
  ByteList moved(as_it_is.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(moved.size()); ++i) {
    const std::int64_t in_image = i % image, to = reference::swizzled(in_image, span);
    REQUIRE_LAW(reference::swizzled(to, span) == in_image, "byte {} goes to {}, and that elsewhere",
                in_image, to);
    const bool copied =
        in_image >= c.shape.to && in_image < c.shape.to + reference::copied_bytes(c.box());
    moved[i - in_image + (copied ? to : in_image)] = as_it_is[i];
  }
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"), moved);
}

// Boxes that are entirely outside of the tensor, on any side.
void nothing_of_the_tensor_is_fill(const TensorCopy& copy, const TensorTileCase& c) {
  CopyContents contents = load_contents(c);
  Bits bits(c.places ^ 1);
  for (std::size_t i = 0; 5 * i < contents.at.size(); ++i) {
    const int d = static_cast<int>(bits.below(c.shape.rank));
    const std::int64_t grain = d == 0 ? c.coordinate_grain() : 1,
                       before = -(c.reach(d) + grain - 1) / grain * grain;
    const std::int64_t after = (c.shape.sizes[d] + grain - 1) / grain * grain;
    // A box that begins this far before the tensor ends at the last coordinate before it; with
    // steps it ends earlier.
    contents.at[5 * i + d] = static_cast<std::int32_t>(bits.chance(50) ? before : after);
  }
  const TensorBox b = c.box();
  ByteList expected;
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

// Boxes of `pieces` pieces by `rows` rows, with each launcher.
void require_boxes_that_fit(const TensorCopy& copy, const TensorTileCase& given, int pieces,
                            int rows) {
  TensorTileCase c = given;
  TensorShape& s = c.shape;
  s = TensorShape{.element = TensorElement::kU32, .rank = 2};
  c.pieces = pieces, c.width = 300, c.count = std::min(std::max(given.count, 1), 2);
  s.sizes[1] = 70, s.to = given.shape.to, s.fill = TensorFill::kZeros;
  c.normalise();
  s.box[1] = rows;
  const CopyContents contents = load_contents(c);
  REQUIRE_BITWISE_EQUAL(load_call(c, contents).run(copy).take<unsigned char>("images"),
                        expected_images(c, contents.at, c.tensor()));
  c.cluster = 2;
  every_block_of_a_multicast_has_the_box(copy, c);
  TensorStoreCase stored;
  static_cast<TensorCopyCase&>(stored) = c;
  stores_match_the_index_model(copy, stored);
  TensorReduceCase reduced;
  static_cast<TensorCopyCase&>(reduced) = c;
  reductions_match_the_index_model(copy, reduced);
}

// More shared memory than a block has without opt-in.
void large_boxes_fit(const TensorCopy& copy, const TensorTileCase& c) {
  require_boxes_that_fit(copy, c, 64, 64);
}

// A launcher must opt in to more than 48 KB, which include a kernel's static shared memory. Images,
// with their alignment to 1024 bytes, are one step of 128 bytes below 48 KB, exactly 48 KB, and one
// step above.
void boxes_about_48_kb_fit(const TensorCopy& copy, const TensorTileCase& given) {
  constexpr std::int64_t kWithoutAsking = 48 << 10, kMargin = 128, kAlignedTo = 1024;
  struct Box {
    int pieces, rows;
  };
  TensorTileCase c = given;
  c.shape.to = 0, c.count = 1;
  for (const auto& [pieces, rows] : {Box{22, 136}, Box{25, 120}, Box{47, 64}}) {
    const std::int64_t off = pieces * kPiece * rows + kMargin + kAlignedTo - kWithoutAsking;
    REQUIRE_LAW(off % kMargin == 0 && std::abs(off) <= kMargin, "a box of {} x {} is {} bytes off",
                pieces, rows, off);
    require_boxes_that_fit(copy, c, pieces, rows);
  }
}

// Also if one block makes several copies, one after the other.
void is_deterministic(const TensorCopy& copy, const SmallTensorReduceCase& given) {
  constexpr int kSchedules = 20;
  SmallTensorReduceCase c = given;
  c.count = 3, c.shape.max_blocks = 1;
  const CopyContents load = load_contents(c), store = store_contents(c),
                     reduce = store_contents(c, true);
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    return load_call(c, load).run(copy).take<unsigned char>("images").fetch();
  });
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    return multicast_call(c, load).run(copy).take<unsigned char>("images").fetch();
  });
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    return store_call(c, store).run(copy).take<unsigned char>("tensor").fetch();
  });
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    return reduce_call(c, reduce).run(copy).take<unsigned char>("tensor").fetch();
  });
}

// A case with this many dimensions: two disjoint boxes inside the tensor, whose neighbouring
// coordinates and offsets all differ.
TensorCopyCase of_dimensions(const TensorCopyCase& given, int rank, bool im2col) {
  TensorCopyCase c;
  c.cluster = 2, c.tensor_offset = given.tensor_offset, c.poison = given.poison,
  c.values = given.values;
  c.values.kind = ValueKind::kWide;
  TensorShape& s = c.shape;
  constexpr std::int64_t kSizes[] = {16, 6, 5, 4, 4};
  constexpr int kOffsets[] = {2, 1, 1};
  std::int64_t stride = 4;
  s.rank = rank, s.im2col = im2col, s.channels = 4, s.pixels = 3, s.to = 128,
  s.max_blocks = given.shape.max_blocks;
  for (int d = 0; d < 5; ++d) {
    s.sizes[d] = kSizes[d], s.box[d] = d == 0 ? 4 : 2;
    stride *= s.sizes[d];
    if (d < 4) s.strides[d] = stride;
  }
  std::copy_n(kOffsets, 3, s.offsets);
  return c;
}

// Each number of dimensions, and each operation, has separate instructions.
void each_instruction_matches_the_index_model(const TensorCopy& copy, const TensorCopyCase& given) {
  const CopyPlaces at = {4, 1, 3, 0, 2, 8, 2, 1, 3, 0};
  for (int rank = 1; rank <= 5; ++rank) {
    for (const bool im2col : {false, true}) {
      if (im2col && rank < 3) continue;
      const TensorCopyCase c = of_dimensions(given, rank, im2col);
      const CopyContents load = {[&] { return c.tensor(); }, nullptr, at};
      REQUIRE_BITWISE_EQUAL(load_call(c, load).run(copy).take<unsigned char>("images"),
                            expected_images(c, at, c.tensor()));
      REQUIRE_BITWISE_EQUAL(multicast_call(c, load).run(copy).take<unsigned char>("images"),
                            expected_images(c, at, c.tensor(), c.cluster));
      const std::int64_t image = reference::image_bytes(c.box());
      const ByteList images = images_of(c, 2, false);
      const CopyContents store = {[&] { return c.tensor(); }, [&] { return images; }, at};
      const auto each_image = [&](auto use) {
        ByteList expected = c.tensor();
        for (std::size_t i = 0; i < 2; ++i)
          use(coordinates(at, i), std::span(images).subspan(i * image, image), expected);
        return expected;
      };
      REQUIRE_BITWISE_EQUAL(store_call(c, store).run(copy).take<unsigned char>("tensor"),
                            each_image([&](const Coordinates& to, auto from, ByteList& all) {
                              reference::tensor_store(c.box(), to, from, all);
                            }));
      for (int operation = 0; operation < 6 && !im2col; ++operation) {
        TensorCopyCase r = c;
        r.reduction = static_cast<TensorReduction>(operation);
        REQUIRE_BITWISE_EQUAL(reduce_call(r, store).run(copy).take<unsigned char>("tensor"),
                              each_image([&](const Coordinates& to, auto from, ByteList& all) {
                                reduce(r, to, from, all);
                              }));
      }
    }
  }
}

// A law that requires copies through tensor maps, which it checks before its first case.
Law<TensorCopy> where_there_are_tensor_copies(Law<TensorCopy> law) {
  law.judge = [judge = std::move(law.judge)](std::string_view name, const TensorCopy& copy,
                                             const PropertyOptions& options) {
    PropertyOptions once;  // a given case is one of the law's
    once.cases = 1;
    PropertyResult there = run_property<TensorCopyCase>(
        name, [](const TensorCopyCase&) { require_capability({Capability::kTensorCopies}); }, once);
    return there.not_applicable ? there : judge(name, copy, options);
  };
  return law;
}

}  // namespace

Laws<TensorCopy> tensor_copy_laws() {
  Laws<TensorCopy> laws = with_batteries<calls_of, SmallTensorCopyCase, Arrays::kStrided,
                                         kSaysImmaterial | kSaysLengths>({
      law("LoadsMatchTheIndexModel", loads_match_the_index_model, {.cases = 400}),
      law("StoresMatchTheIndexModel", stores_match_the_index_model, {.cases = 250}),
      law("ReductionsMatchTheIndexModel", reductions_match_the_index_model, {.cases = 150}),
      law("EachInstructionMatchesTheIndexModel", each_instruction_matches_the_index_model,
          {.cases = 2, .cost = 300}),
      law("EveryBlockOfAMulticastHasTheBox", every_block_of_a_multicast_has_the_box,
          {.cases = 80, .cost = 2}),
      law("WhatIsLoadedAndStoredIsTheSame", what_is_loaded_and_stored_is_the_same,
          {.cases = 60, .cost = 4}),
      law("ASwizzleMovesPiecesAndNothingElse", a_swizzle_moves_pieces_and_nothing_else,
          {.cases = 60, .cost = 2}),
      no_work_law<calls_of, SmallTensorCopyCase, &TensorCopyCase::count>("LaunchesNothingForNoWork",
                                                                         {.cases = 20, .cost = 8}),
      refusal_law<calls_of, SmallTensorCopyCase>("RefusesBadArguments", {.cases = 12, .cost = 25}),
      refusal_law<column_calls_of, TensorStoreCase>("RefusesBadColumns", {.cases = 10, .cost = 25}),
      law("NothingOfTheTensorIsFill", nothing_of_the_tensor_is_fill, {.cases = 80}),
      // Before larger boxes: an opt-in of a kernel stays in effect.
      law("BoxesAbout48KbFit", boxes_about_48_kb_fit, {.cases = 1, .cost = 100}),
      law("LargeBoxesFit", large_boxes_fit, {.cases = 2, .cost = 50}),
      law("IsDeterministic", is_deterministic, {.cases = 3, .cost = 40}),
  });
  for (auto& law : laws) law = where_there_are_tensor_copies(std::move(law));
  return laws;
}

}  // namespace lockstep::properties
