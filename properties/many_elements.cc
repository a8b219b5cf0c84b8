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

constexpr std::int64_t kPastInt = std::int64_t{1} << 31;
constexpr std::int64_t kWindow = 1 << 16;  // elements
// Of the grid where the simulated GPU runs a part of it, fewer than a window's worth at either end.
constexpr std::uint64_t kBlocks = 8;
constexpr std::int64_t kLeastWritten = 32;

struct ManyCase {
  std::int64_t more = 0;  // elements beyond 2^31, and more than a window
  int block = 256;
  std::uint64_t seed = 0;
  // Elements that the grid covers before it strides on, where it does so once; 0: all of them.
  std::int64_t span = 0;
  static void fields(ManyCase& c, FieldVisitor& field) {
    field("more", c.more, one_of<std::int64_t>({2 * kWindow + 3, 3'000'003}));
    field("block", c.block, one_of<int>({256, 1024}));
    field("seed", c.seed, seeds());
  }
  std::int64_t n() const { return span == 0 ? kPastInt + more : 2 * span - 3; }
  std::int64_t middle() const { return span == 0 ? kPastInt : span; }
  // The same with a grid of blocks that have so many elements for each of their threads, of which
  // all together have more than 31 bits count.
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
  // Where stretches of `kWindow` begin: those of the windows, and some between them.
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

// Input and output of n elements of T, and room for the guards of neither: who writes past an end
// is another law's matter.
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

  // Nothing is in the output, as far as it is looked at.
  void forget(const ManyCase& c) {
    if (!is_simulator()) return y.fill(0, y.size());
    for (const std::int64_t begin : c.stretches())
      y.fill(static_cast<std::size_t>(begin) * sizeof(T), kWindow * sizeof(T));
  }

  // The result is expected(i) in every stretch, or, where part of a grid has run, nothing.
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

// Of two lines of elements of `bytes`, with some to spare.
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
  for (const int lanes : {32, 31}) {  // whole blocks as plain copies, and not
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
  // Any of [-1, 1).
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

}  // namespace

Laws<MemoryAccess> many_access_laws() {
  return {law("GathersAndScattersManyElements", gathers_and_scatters_them, {.cases = 1})};
}
Laws<Stencil> many_stencil_laws() {
  return {law("DifferentiatesManyElements", differentiates_them, {.cases = 1})};
}
Laws<StagingLaunchers> many_staging_laws() {
  return {law("MapsManyElements", maps_them, {.cases = 1})};
}

}  // namespace lockstep::properties
