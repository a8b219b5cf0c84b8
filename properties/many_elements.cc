#include "properties/many_elements.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "harness/device/device.h"
#include "harness/device/sparse_array.h"
#include "reference/stencil.h"

namespace lockstep::properties {
namespace {

using kernels::StagingLaunchers;

constexpr std::int64_t kPastInt = std::int64_t{1} << 31, kPastUnsigned = std::int64_t{1} << 32;
constexpr std::int64_t kWindow = 1 << 16;  // elements
// Blocks that the simulated GPU runs: fewer than a window's elements at each end.
constexpr std::uint64_t kBlocks = 8;
constexpr std::int64_t kLeastWritten = 32;

struct ManyCase {
  std::int64_t more = 0;  // elements beyond 2^31, and more than a window
  int block = 256;
  std::uint64_t seed = 0;
  // The elements that the grid covers in one turn, if it makes two; 0: all of them.
  std::int64_t span = 0;
  // The number of elements, if not 0: whole blocks with one or several elements per thread.
  std::int64_t exactly = 0;
  static void fields(ManyCase& c, FieldVisitor& field) {
    field("more", c.more, one_of<std::int64_t>({2 * kWindow + 3, 3'000'003}));
    field("block", c.block, one_of<int>({256, 1024}));
    field("seed", c.seed, seeds());
  }
  std::int64_t n() const {
    return exactly != 0 ? exactly : span == 0 ? kPastInt + more : 2 * span - 3;
  }
  std::int64_t middle() const { return span == 0 ? kPastInt : span; }
  // The same with more elements than 32 bits count, in whole blocks whose threads have `each`.
  ManyCase in_blocks(int each) const {
    ManyCase c = *this;
    const std::int64_t batch = std::int64_t{each} * block;
    c.exactly = ((kPastUnsigned + more) / batch + 1) * batch;
    return c;
  }
  unsigned blocks_of(int each) const {
    return static_cast<unsigned>(n() / (std::int64_t{each} * block));
  }
  // The same with so many elements per thread that the grid counts more than 31 bits hold.
  ManyCase in_two_turns(int items) const {
    ManyCase c = *this;
    const std::int64_t batch = std::int64_t{items} * block;
    c.span = (kPastInt / batch + 5) * batch;
    return c;
  }
  int blocks(int items) const {
    return span == 0 ? std::numeric_limits<int>::max()
                     : static_cast<int>(span / (std::int64_t{items} * block));
  }

  // Element i of the input: any 32 bits in the windows, 0 elsewhere.
  std::uint32_t word(std::int64_t i) const {
    if (i < 0 || i >= n()) return 0;
    const bool in_window = i < kWindow || i >= n() - kWindow ||
                           (i >= middle() - kWindow / 2 && i < middle() + kWindow / 2);
    return in_window ? static_cast<std::uint32_t>(mix(seed + static_cast<std::uint64_t>(i))) : 0;
  }
  // The begins of stretches of `kWindow` elements: the windows, and some between them.
  std::vector<std::int64_t> stretches() const {
    std::vector<std::int64_t> begin = {0, n() - kWindow};
    if (!is_simulator() || span != 0) begin.push_back(middle() - kWindow / 2);
    if (is_simulator()) return begin;
    for (std::uint64_t k = 0; k < 8; ++k)
      begin.push_back(
          static_cast<std::int64_t>(mix(seed + k) % static_cast<std::uint64_t>(n() - kWindow)));
    return begin;
  }
};

// Input and output of n elements of T, without guards: another law tests writes past the end.
template <class T>
struct Line {
  template <class Value>
  Line(const ManyCase& c, Value&& value)
      : n(c.n()),
        x("x", static_cast<std::size_t>(n) * sizeof(T)),
        y("y", static_cast<std::size_t>(n) * sizeof(T)) {
    const std::vector<std::int64_t> stretches = c.stretches();
    if (!is_simulator()) x.fill(0, x.size(), 0);
    forget(c);
    for (std::size_t k = 0; k < std::min<std::size_t>(stretches.size(), 3); ++k) {
      std::vector<T> window;
      for (std::int64_t i = stretches[k]; i < stretches[k] + kWindow; ++i)
        window.push_back(value(i));
      x.write_elements<T>(static_cast<std::size_t>(stretches[k]) * sizeof(T), window);
    }
  }
  const T* in() const { return reinterpret_cast<const T*>(x.data()); }
  T* out() const { return reinterpret_cast<T*>(y.data()); }

  // Clears the output, as far as it is checked.
  void forget(const ManyCase& c) {
    if (!is_simulator()) return y.fill(0, y.size());
    for (const std::int64_t begin : c.stretches())
      y.fill(static_cast<std::size_t>(begin) * sizeof(T), kWindow * sizeof(T));
  }

  // The result must be expected(i) in every stretch or, if only a part of the grid has run,
  // unwritten.
  template <class Expected>
  void require(const ManyCase& c, Expected&& expected) const {
    for (const std::int64_t begin : c.stretches()) {
      const std::vector<T> actual =
          y.template read_elements<T>(static_cast<std::size_t>(begin) * sizeof(T), kWindow);
      T untouched;
      std::memset(&untouched, SparseArray::kUntouched, sizeof untouched);
      std::int64_t written = 0;
      for (std::int64_t i = begin; i < begin + kWindow; ++i) {
        const T value = actual[static_cast<std::size_t>(i - begin)];
        if (is_simulator() && std::memcmp(&value, &untouched, sizeof value) == 0) continue;
        const T wanted = expected(i);
        REQUIRE_LAW(value == wanted, "element {} is {}, not {}", i, value, wanted);
        ++written;
      }
      REQUIRE_LAW(written >= kLeastWritten, "{} of the elements from {} on are written", written,
                  begin);
    }
  }

  std::int64_t n;
  SparseArray x, y;
};

// Requires memory for two lines of elements of `bytes`, and a margin.
void require_room(const ManyCase& c, std::int64_t bytes) {
  require_capability(
      {Capability::kGlobalBytes, static_cast<std::uint64_t>(2 * bytes * c.n() + 2 * kPastInt)});
}

void gathers_and_scatters_them(const MemoryAccess& access, const ManyCase& c) {
  const SampledBlocks sampled(kBlocks);
  constexpr std::uint64_t kRoom = std::uint64_t{14}
                                  << 30;  // the simulated GPU needs more than the two lines
  require_capability({Capability::kGlobalBytes, kRoom});
  const auto byte = [&](std::int64_t i) { return static_cast<std::uint8_t>(c.word(i)); };
  Line<std::uint8_t> line(c, byte);
  for (const int lanes : {32, 31}) {  // with and without whole blocks as plain copies
    const kernels::AccessPattern pattern = {.lanes = lanes};
    const auto expected = [&](std::int64_t i) {
      return i % 32 < lanes ? byte(i) : SparseArray::kUntouched;
    };
    line.forget(c);
    REQUIRE_CUDA(access.gather(kernels::LoadPath::kDefault, pattern, 1, line.in(), line.n,
                               line.out(), line.n, {c.block}, nullptr));
    line.require(c, expected);
    line.forget(c);
    REQUIRE_CUDA(
        access.scatter(pattern, 1, line.in(), line.out(), line.n, line.n, {c.block}, nullptr));
    line.require(c, expected);
  }
}

void differentiate(const Stencil& stencil, const ManyCase& c) {
  const SampledBlocks sampled(kBlocks);
  require_room(c, sizeof(float));
  // Any value of [-1, 1).
  const auto value = [&](std::int64_t i) {
    return static_cast<float>(static_cast<std::int32_t>(c.word(i))) * 0x1p-31f;
  };
  const kernels::StencilCoefficients coefficients = {0, 0.75f, -0.3f, 0.125f, -0.01f};
  Line<float> line(c, value);
  REQUIRE_CUDA(stencil(kernels::StencilVariant::kConstant, line.in(), line.n, line.out(),
                       coefficients, kernels::StencilBoundary::kZero,
                       {.block = c.block, .max_blocks = c.blocks(kernels::kStencilItems)},
                       nullptr));
  line.require(c, [&](std::int64_t i) {
    std::vector<float> around;
    for (std::int64_t j = i - kernels::kStencilRadius; j <= i + kernels::kStencilRadius; ++j)
      around.push_back(value(j));
    return reference::stencil_chain(around, coefficients, reference::Boundary::kPadded)(0);
  });
}

void differentiates_them(const Stencil& stencil, const ManyCase& c) {
  differentiate(stencil, c);
  differentiate(stencil, c.in_two_turns(kernels::kStencilItems));
}

void map(const StagingLaunchers& staging, const ManyCase& c) {
  const SampledBlocks sampled(kBlocks);
  require_room(c, sizeof(std::uint32_t));
  const kernels::StagingShape shape = {.block = c.block,
                                       .max_blocks = c.blocks(kernels::kStagingItems)};
  Line<std::uint32_t> line(c, [&](std::int64_t i) { return c.word(i); });
  REQUIRE_CUDA(staging.thread_map(line.in(), line.n, line.out(), 3, 5, shape, nullptr));
  line.require(c, [&](std::int64_t i) { return 3 * c.word(i) + 5; });
  line.forget(c);
  REQUIRE_CUDA(staging.tile_map(kernels::TileMap::kAdjacentDifference, line.in(), line.n,
                                line.out(), shape, nullptr));
  line.require(
      c, [&](std::int64_t i) { return i % c.block == 0 ? c.word(i) : c.word(i) - c.word(i - 1); });
}

void maps_them(const StagingLaunchers& staging, const ManyCase& c) {
  map(staging, c);
  map(staging, c.in_two_turns(kernels::kStagingItems));
}

// A matrix of few columns, or of few rows: the rows of the result, or of the input, are so far
// apart that a few of them exceed 31 bits. Blocks stride down columns that are longer than a grid.
void transpose_matrix(const StagingLaunchers& staging, const ManyCase& c, bool tall) {
  // A column takes 32 turns of a grid of 65,535 blocks with 64 rows each, and then some rows of the
  // first block.
  constexpr std::int64_t kFew = 33, kLong = std::int64_t{32} * 65535 * 64 + 37;
  constexpr std::uint64_t kBytes = kFew * kLong * sizeof(std::uint32_t);
  require_capability({Capability::kGlobalBytes, 2 * kBytes + 2 * kPastInt});
  const SampledBlocks sampled(kBlocks);
  const std::int64_t rows = tall ? kLong : kFew, columns = tall ? kFew : kLong;
  SparseArray x("x", kBytes), y("y", kBytes);
  // Both ends of each short line; other elements are 0, or are not checked.
  constexpr std::int64_t kEnd = 40;
  const auto word = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::uint32_t>(mix(c.seed + static_cast<std::uint64_t>(i * columns + j)));
  };
  const auto each_place = [&](auto visit) {
    for (std::int64_t a = 0; a < kFew; ++a) {
      for (const std::int64_t begin : {std::int64_t{0}, kLong - kEnd}) {
        for (std::int64_t b = begin; b < begin + kEnd; ++b) tall ? visit(b, a) : visit(a, b);
      }
    }
  };
  const auto at = [](std::int64_t element) {
    return static_cast<std::size_t>(element) * sizeof(std::uint32_t);
  };
  each_place([&](std::int64_t i, std::int64_t j) {
    x.write_elements<std::uint32_t>(at(i * columns + j), {word(i, j)});
    y.fill(at(j * rows + i), sizeof(std::uint32_t));
  });
  REQUIRE_CUDA(staging.transpose(kernels::TransposeVariant::kPadded,
                                 reinterpret_cast<const std::uint32_t*>(x.data()), rows, columns,
                                 reinterpret_cast<std::uint32_t*>(y.data()), nullptr));
  std::int64_t written = 0;
  each_place([&](std::int64_t i, std::int64_t j) {
    const std::uint32_t value = y.read_elements<std::uint32_t>(at(j * rows + i), 1)[0];
    std::uint32_t untouched;
    std::memset(&untouched, SparseArray::kUntouched, sizeof untouched);
    if (is_simulator() && value == untouched) return;
    REQUIRE_LAW(value == word(i, j), "y[{}][{}] is {}, not x[{}][{}], {}", j, i, value, i, j,
                word(i, j));
    ++written;
  });
  REQUIRE_LAW(written >= kFew * kLeastWritten, "{} elements are written", written);
}

void transposes_them(const StagingLaunchers& staging, const ManyCase& c) {
  transpose_matrix(staging, c, /*tall=*/false);
  transpose_matrix(staging, c, /*tall=*/true);
}

// The simulated GPU needs memory besides the lines: `bytes` for one element of both.
void require_lines(const ManyCase& c, std::int64_t bytes) {
  require_capability(
      {Capability::kGlobalBytes, static_cast<std::uint64_t>(bytes * c.n() + 2 * kPastInt)});
}

void exchanges_them(const Shuffle& shuffle, const ManyCase& drawn) {
  const SampledBlocks sampled(kBlocks);
  const ManyCase c = drawn.in_blocks(2);
  require_lines(c, 2 * sizeof(std::uint32_t));
  const kernels::WarpShape shape = {.block = dim3(static_cast<unsigned>(c.block)),
                                    .blocks = c.blocks_of(1)};
  Line<std::uint32_t> line(c, [&](std::int64_t i) { return c.word(i); });
  REQUIRE_CUDA(shuffle.of<unsigned>().warp_collective(
      kernels::WarpCollective::kBroadcast, line.in(), line.out(), 32, 3, shape, nullptr));
  line.require(c, [&](std::int64_t i) { return c.word(i / 32 * 32 + 3); });
  // Lane and warp, for half as many threads.
  line.forget(c);
  REQUIRE_CUDA(shuffle.lane_and_warp(
      line.out(), {.block = dim3(static_cast<unsigned>(c.block)), .blocks = c.blocks_of(2)},
      nullptr));
  line.require(c, [&](std::int64_t i) {
    const std::int64_t t = i / 2 % c.block;
    return static_cast<std::uint32_t>(i % 2 == 0 ? t % 32 : t / 32);
  });
}

void shares_them(const MemorySpaces& spaces, const ManyCase& drawn) {
  const SampledBlocks sampled(kBlocks);
  const ManyCase c = drawn.in_blocks(kernels::kLocalWords);
  require_lines(c, 2 * sizeof(std::uint32_t));
  const auto block_of = [&](std::int64_t i) { return i / c.block * c.block; };
  Line<std::uint32_t> line(c, [&](std::int64_t i) { return c.word(i); });
  for (const kernels::SharedKind kind :
       {kernels::SharedKind::kStatic, kernels::SharedKind::kDynamic}) {
    line.forget(c);
    REQUIRE_CUDA(spaces.shared_sum(kind, line.in(), line.out(),
                                   {.block = c.block, .blocks = c.blocks_of(1)}, nullptr));
    std::int64_t summed = -1;
    std::uint32_t sum = 0;
    line.require(c, [&](std::int64_t i) {
      if (block_of(i) == summed) return sum;
      summed = block_of(i), sum = 0;
      for (std::int64_t t = 0; t < c.block; ++t) sum += c.word(summed + t);
      return sum;
    });
  }
  line.forget(c);
  constexpr int kLocal = kernels::kLocalWords;
  REQUIRE_CUDA(spaces.local_rotation(line.out(), 7, 1,
                                     {.block = c.block, .blocks = c.blocks_of(kLocal)}, nullptr));
  line.require(c, [&](std::int64_t i) {
    const std::int64_t thread = i / kLocal;
    return static_cast<std::uint32_t>(7 + thread * kLocal + (i % kLocal + thread + 1) % kLocal);
  });
}

// Images of 256 bytes of a tensor with one box: few images, but many bytes.
void copies_them(const TensorCopy& copies, const ManyCase& drawn) {
  require_capability({Capability::kTensorCopies});
  const SampledBlocks sampled(kBlocks);
  kernels::TensorShape shape;
  shape.element = kernels::TensorElement::kU8;
  shape.rank = 1;
  shape.sizes[0] = shape.box[0] = 16;
  shape.block = 32;
  const auto image = kernels::tensor_image_bytes(shape);
  ManyCase c = drawn;
  c.exactly = ((kPastUnsigned + drawn.more) / image + 1) * image;
  const std::int64_t count = c.n() / image;
  require_lines(c, 2);
  const auto byte = [&](std::int64_t i) { return static_cast<std::uint8_t>(c.word(i)); };
  Line<std::uint8_t> line(c, byte);
  std::vector<std::uint8_t> box;
  for (int i = 0; i < 16; ++i) box.push_back(static_cast<std::uint8_t>(3 * i + 1));
  const auto tensor = DeviceArray<std::uint8_t>::in_out("tensor", box, {});
  SparseArray at("at", static_cast<std::size_t>(count) * 5 * sizeof(std::int32_t));
  const std::size_t window = kWindow / static_cast<std::size_t>(image) * 5 * sizeof(std::int32_t);
  if (!is_simulator()) at.fill(0, at.size(), 0);
  at.fill(0, window, 0);
  at.fill(at.size() - window, window, 0);
  REQUIRE_CUDA(copies.load(shape, tensor.data(), reinterpret_cast<std::int32_t*>(at.data()), count,
                           line.out(), nullptr));
  line.require(c, [&](std::int64_t i) {
    return i % image < 16 ? box[static_cast<std::size_t>(i % image)]
                          : static_cast<std::uint8_t>(kernels::kTensorBackground);
  });
}

}  // namespace

Laws<MemoryAccess> many_access_laws() {
  return {law("GathersAndScattersManyElements", gathers_and_scatters_them, {.cases = 1})};
}
Laws<Shuffle> many_shuffle_laws() {
  return {law("ExchangesManyElements", exchanges_them, {.cases = 1})};
}
Laws<MemorySpaces> many_space_laws() {
  return {law("SharesManyElements", shares_them, {.cases = 1})};
}
Laws<TensorCopy> many_copy_laws() { return {law("CopiesManyImages", copies_them, {.cases = 1})}; }
Laws<Stencil> many_stencil_laws() {
  return {law("DifferentiatesManyElements", differentiates_them, {.cases = 1})};
}
Laws<StagingLaunchers> many_staging_laws() {
  return {law("MapsManyElements", maps_them, {.cases = 1}),
          law("TransposesFarRows", transposes_them, {.cases = 1})};
}

}  // namespace lockstep::properties
