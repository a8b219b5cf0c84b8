// The index model, compared with values derived by hand: rows, borders, swizzles, slices, columns
// of pixels.
#include "reference/tensor_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace lockstep::reference {
namespace tensor_copy_test {

using List = std::vector<std::int64_t>;

// The places of every `step`-th byte of the image.
List every(std::int64_t step, const TensorPlaces& places, std::int64_t count) {
  List out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(places[i * step]);
  return out;
}

// 3 rows of 8 words, 48 bytes apart.
TensorBox words() {
  TensorBox b;
  b.rank = 2;
  b.sizes = {8, 3, 1, 1, 1};
  b.strides = {48, 0, 0, 0};
  b.box = {4, 2, 1, 1, 1};
  return b;
}

TEST(TensorCopyReference, CopiesRowsOfATile) {
  EXPECT_EQ(every(4, tensor_places(words(), {4, 1}, TensorDirection::kLoad), 9),
            (List{64, 68, 72, 76, 112, 116, 120, 124, kNotCopied}));
  EXPECT_EQ(copied_bytes(words()), 32);
  EXPECT_EQ(image_bytes(words()), 256);
  EXPECT_EQ(memory_bytes(words()), 2 * 48 + 32);
}

TEST(TensorCopyReference, LeavesTheTensorOnEverySide) {
  constexpr std::int64_t o = kOutsideOfTensor;
  EXPECT_EQ(every(4, tensor_places(words(), {-4, -1}, TensorDirection::kLoad), 8),
            (List{o, o, o, o, o, o, o, o}));
  EXPECT_EQ(every(4, tensor_places(words(), {4, 2}, TensorDirection::kLoad), 8),
            (List{112, 116, 120, 124, o, o, o, o}));
  TensorBox seven = words();
  seven.sizes[0] = 6;
  EXPECT_EQ(every(4, tensor_places(seven, {4, 0}, TensorDirection::kLoad), 4),
            (List{16, 20, o, o}));
  EXPECT_EQ(every(4, tensor_places(seven, {4, 0}, TensorDirection::kStore), 4),
            (List{16, 20, 24, 28}));  // a piece is written whole
  EXPECT_EQ(every(4, tensor_places(seven, {8, 0}, TensorDirection::kStore), 4), (List{o, o, o, o}));
}

TEST(TensorCopyReference, StepsOverRows) {
  TensorBox b = words();
  b.box[1] = 3;
  b.steps = {5, 2, 1, 1, 1};  // the innermost step is ignored
  EXPECT_EQ(every(16, tensor_places(b, {0, 0}, TensorDirection::kLoad), 3),
            (List{0, 96, kNotCopied}));
}

TEST(TensorCopyReference, SwizzlesAreInvolutionsThatMovePieces) {
  for (const std::int64_t bytes : {0, 32, 64, 128}) {
    for (std::int64_t i = 0; i < 2048; ++i) {
      EXPECT_EQ(swizzled(swizzled(i, bytes), bytes), i);
      EXPECT_EQ(swizzled(i, bytes) / std::max<std::int64_t>(bytes, 16),
                i / std::max<std::int64_t>(bytes, 16));
    }
  }
  EXPECT_EQ(swizzled(128, 128), 128 + 16);
  EXPECT_EQ(swizzled(7 * 128 + 5, 128), 7 * 128 + 7 * 16 + 5);
  EXPECT_EQ(swizzled(5 * 128 + 48, 64), 5 * 128 + 32);
  EXPECT_EQ(swizzled(128 + 32, 32), 128 + 48);
}

TEST(TensorCopyReference, NarrowRowsTakeAllThatIsSwizzled) {
  TensorBox b = words();
  b.swizzle_bytes = 64;
  b.box[1] = 3;
  const TensorPlaces places = tensor_places(b, {0, 0}, TensorDirection::kLoad);
  // Rows at 0, 64 and 128, where the second line of the pattern begins.
  EXPECT_EQ(every(16, places, 10), (List{0, -2, -2, -2, 48, -2, -2, -2, -2, 96}));
}

TEST(TensorCopyReference, SlicesAreUnitsOfTheirOwn) {
  TensorBox b;
  b.rank = 3;
  b.element_bytes = 2;
  b.slice_bytes = 16;
  b.sizes = {5, 2, 2, 1, 1};
  b.strides = {80, 160, 0, 0};
  b.box = {8, 2, 1, 1, 1};
  b.steps = {3, 1, 1, 1, 1};
  EXPECT_EQ(copied_bytes(b), 3 * 16);
  EXPECT_EQ(every(16, tensor_places(b, {1, 1, 1}, TensorDirection::kLoad), 4),
            (List{80 + 160 + 16, 80 + 160 + 64, kOutsideOfTensor, kNotCopied}));
}

// An image of 4 by 3 pixels of 16 bytes, and a second image. The box has 2 by 2 pixels.
TEST(TensorCopyReference, ColumnsGoOnInTheNextLineAndTheNextImage) {
  TensorBox b;
  b.rank = 4;
  b.im2col = true;
  b.sizes = {4, 4, 3, 2, 1};
  b.strides = {16, 64, 192, 0};
  b.lower = {1, 0};
  b.upper = {-1, -1};
  b.channels = 4;
  b.pixels = 6;
  const auto pixel = [](std::int64_t x, std::int64_t y, std::int64_t n) {
    return 16 * x + 64 * y + 192 * n;
  };
  EXPECT_EQ(every(16, tensor_places(b, {0, 2, 0, 0}, TensorDirection::kLoad), 6),
            (List{pixel(2, 0, 0), pixel(1, 1, 0), pixel(2, 1, 0), pixel(1, 0, 1), pixel(2, 0, 1),
                  pixel(1, 1, 1)}));
  b.offsets = {1, 1};
  EXPECT_EQ(every(16, tensor_places(b, {0, 2, 0, 0}, TensorDirection::kLoad), 2),
            (List{pixel(3, 1, 0), pixel(2, 2, 0)}));
  EXPECT_EQ(every(16, tensor_places(b, {0, 2, 0, 0}, TensorDirection::kStore), 2),
            (List{pixel(2, 0, 0), pixel(1, 1, 0)}));
}

TEST(TensorCopyReference, WhatIsStoredIsLoadedAgain) {
  const TensorBox b = words();
  std::vector<std::uint8_t> image(image_bytes(b)), memory(memory_bytes(b), 9);
  std::iota(image.begin(), image.end(), 1);
  tensor_store(b, {4, 2}, image, memory);
  EXPECT_EQ(memory[2 * 48 + 16], 1);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 9),
            static_cast<std::ptrdiff_t>(memory.size()) - 16 + 1);
  const TensorBytes back = tensor_load(b, {4, 2}, memory, 0xb7);
  EXPECT_TRUE(std::equal(back.begin(), back.begin() + 16, image.begin()));
  EXPECT_EQ(back[16], 0);
  EXPECT_EQ(back[32], 0xb7);
  TensorBox nan = b;
  nan.fill_with_nan = true;
  EXPECT_EQ(tensor_load(nan, {4, 2}, memory, 0)[16], 0xf7);
  EXPECT_EQ(tensor_load(nan, {4, 2}, memory, 0)[17], 0x7f);
}

TEST(TensorCopyReference, ReducesElementByElement) {
  const TensorBox b = words();
  std::vector<std::uint8_t> image(image_bytes(b), 0), memory(memory_bytes(b), 0xff);
  image[0] = 2;
  tensor_reduce<std::uint32_t>(b, {0, 0}, image, memory,
                               [](std::uint32_t x, std::uint32_t y) { return x + y; });
  EXPECT_EQ((List(memory.begin(), memory.begin() + 5)), (List{1, 0, 0, 0, 0xff}));
}

}  // namespace tensor_copy_test
}  // namespace lockstep::reference
