#include "properties/staging.h"

#include <algorithm>
#include <limits>

#include "harness/device.h"
#include "harness/property.h"
#include "harness/refusal.h"
#include "properties/no_launch.h"
#include "reference/staging.h"

namespace lockstep::properties {
namespace {

using kernels::StagingShape;
using kernels::TileMap;
using kernels::TransposeVariant;
using Words = std::vector<std::uint32_t>;

constexpr int kTile = 32;  // of the transpose
constexpr int kTileRows = 8, kBlockRows = 2 * kTile;

Words list(const reference::Words& w) { return {w.begin(), w.end()}; }

Words expected_tiles(const LineCase& c, const Words& x) {
  switch (c.map) {
    case TileMap::kReverse:
      return list(reference::reverse_tiles(x, c.block));
    case TileMap::kRotate:
      return list(reference::rotate_tiles(x, c.block));
    case TileMap::kAdjacentDifference:
      return list(reference::difference_tiles(x, c.block));
  }
  throw std::logic_error("a tile map without a reference");
}

StagingShape shape_of(const LineCase& c) { return {.block = c.block, .max_blocks = c.max_blocks}; }

}  // namespace

void LineCase::fields(LineCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 17); }

void LineCase::fields_of(LineCase& c, FieldVisitor& field, std::int64_t most) {
  using enum kernels::TileMap;
  field("n", c.n, sizes(0, most));
  field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 3, 31, 33, 1000}));
  field("max_blocks", c.max_blocks, choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"5", 5}}));
  field("map", c.map,
        choice<kernels::TileMap>(
            {{"reverse", kReverse}, {"rotate", kRotate}, {"adjacent_difference", kAdjacentDifference}}));
  field("a", c.a, one_of<std::uint32_t>({1, 0, 2, 3, 0x80000001u, 0xffffffffu}));
  field("b", c.b, one_of<std::uint32_t>({0, 1, 0xffffffffu, 0x12345678u}));
  field("x_offset", c.x_offset, range(0, 31));
  field("y_offset", c.y_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide, ValueKind::kSpecial}));
}

void TransposeCase::fields(TransposeCase& c, FieldVisitor& field) {
  using enum kernels::TransposeVariant;
  field("rows", c.rows, sizes(0, 1100));
  field("columns", c.columns, sizes(0, 1100));
  field("variant", c.variant, choice<kernels::TransposeVariant>({{"padded", kPadded}, {"unpadded", kUnpadded}}));
  field("x_offset", c.x_offset, range(0, 31));
  field("y_offset", c.y_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide}));
}

void ScheduledLineCase::fields(ScheduledLineCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 11); }

void RefusedLineCase::fields(RefusedLineCase& c, FieldVisitor& field) {
  using enum Mistake;
  fields_of(c, field, 1 << 10);
  field("mistake", c.mistake,
        choice<Mistake>({{"negative_size", kNegativeSize},
                         {"huge_size", kHugeSize},
                         {"no_threads", kNoThreads},
                         {"too_many_threads", kTooManyThreads},
                         {"no_blocks", kNoBlocks},
                         {"null_input", kNullInput},
                         {"null_output", kNullOutput},
                         {"misaligned_input", kMisalignedInput},
                         {"misaligned_output", kMisalignedOutput},
                         {"overlap", kOverlap},
                         {"unknown_map", kUnknownMap},
                         {"unknown_variant", kUnknownVariant},
                         {"negative_rows", kNegativeRows}}));
}

void LineCase::normalise() {
  if (n > 1 << 13) max_blocks = kUnlimited;  // one block and ten thousand elements show nothing that a thousand do not
  if (n > 1 << 13 && block < 32) block = 32;
}

void TransposeCase::normalise() {
  constexpr std::int64_t kMost = 1 << 16;  // elements: long in one direction is enough
  if (rows * columns > kMost) columns = std::max<std::int64_t>(kMost / rows, 1);
}

void RefusedLineCase::normalise() {
  n = std::max<std::int64_t>(n, 1);
  LineCase::normalise();
}

Words LineCase::x() const { return make_values<std::uint32_t>(values, n); }
Words TransposeCase::x() const { return make_values<std::uint32_t>(values, rows * columns); }

DeviceArray<std::uint32_t> LineCase::launch_thread_map(const Staging& staging, const Words& x) const {
  const auto in = DeviceArray<std::uint32_t>::input("x", x, {.misalignment = x_offset, .poison = poison});
  auto out = DeviceArray<std::uint32_t>::output("y", x.size(), {.misalignment = y_offset, .poison = poison});
  REQUIRE_CUDA(staging.thread_map(in.data(), n, out.data(), a, b, shape_of(*this), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

DeviceArray<std::uint32_t> LineCase::launch_tile_map(const Staging& staging, const Words& x) const {
  const auto in = DeviceArray<std::uint32_t>::input("x", x, {.misalignment = x_offset, .poison = poison});
  auto out = DeviceArray<std::uint32_t>::output("y", x.size(), {.misalignment = y_offset, .poison = poison});
  REQUIRE_CUDA(staging.tile_map(map, in.data(), n, out.data(), shape_of(*this), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

WhereIs LineCase::where() const {
  const std::uint64_t batch = std::uint64_t{kernels::kStagingItems} * block, batches = n == 0 ? 1 : (n - 1) / batch + 1,
                      grid = std::min<std::uint64_t>(batches, max_blocks);
  return [batch, grid, block = static_cast<std::uint64_t>(block)](std::size_t i) {
    return Origin{.block = i / batch % grid, .thread = static_cast<std::uint32_t>(i % block)};
  };
}

DeviceArray<std::uint32_t> TransposeCase::launch(const Staging& staging, const Words& x) const {
  const auto in = DeviceArray<std::uint32_t>::input("x", x, {.misalignment = x_offset, .poison = poison});
  auto out = DeviceArray<std::uint32_t>::output("y", x.size(), {.misalignment = y_offset, .poison = poison});
  REQUIRE_CUDA(staging.transpose(variant, in.data(), rows, columns, out.data(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

WhereIs TransposeCase::where() const {
  const std::uint64_t across = columns == 0 ? 1 : (columns - 1) / kTile + 1, height = std::max<std::int64_t>(rows, 1);
  return [across, height](std::size_t e) {
    const std::uint64_t j = e / height, i = e % height;  // y is columns x rows
    return Origin{.block = i / kBlockRows * across + j / kTile,
                  .thread = static_cast<std::uint32_t>(j % kTileRows * kTile + i % kTile)};
  };
}

void thread_map_matches_its_reference(const Staging& staging, const LineCase& c) {
  REQUIRE_BITWISE_EQUAL(c.launch_thread_map(staging, c.x()), list(reference::thread_map(c.x(), c.a, c.b)), c.where());
}

void tile_map_matches_its_reference(const Staging& staging, const LineCase& c) {
  REQUIRE_BITWISE_EQUAL(c.launch_tile_map(staging, c.x()), expected_tiles(c, c.x()), c.where());
}

void transpose_matches_its_reference(const Staging& staging, const TransposeCase& c) {
  REQUIRE_BITWISE_EQUAL(c.launch(staging, c.x()), list(reference::transpose(c.x(), c.rows, c.columns)), c.where());
}

void reversing_twice_changes_nothing(const Staging& staging, const LineCase& c) {
  LineCase reversing = c;
  reversing.map = TileMap::kReverse;
  const Words once = reversing.launch_tile_map(staging, c.x()).fetch();
  REQUIRE_BITWISE_EQUAL(reversing.launch_tile_map(staging, once), c.x(), c.where());
}

// Whole tiles come back after as many rotations as a tile has elements.
void rotating_a_block_times_changes_nothing(const Staging& staging, const ScheduledLineCase& c) {
  ScheduledLineCase rotating = c;
  rotating.map = TileMap::kRotate;
  rotating.block = std::min(c.block, 33);
  rotating.n = c.n / rotating.block * rotating.block;
  const Words x = rotating.x();
  Words turned = x;
  for (int i = 0; i < rotating.block; ++i) turned = rotating.launch_tile_map(staging, turned).fetch();
  REQUIRE_BITWISE_EQUAL(turned, x, rotating.where());
}

void transposing_twice_changes_nothing(const Staging& staging, const TransposeCase& c) {
  TransposeCase back = c;
  std::swap(back.rows, back.columns);
  REQUIRE_BITWISE_EQUAL(back.launch(staging, c.launch(staging, c.x()).fetch()), c.x());
}

void transpose_variants_agree(const Staging& staging, const TransposeCase& c) {
  TransposeCase other = c;
  other.variant = TransposeVariant::kPadded;
  const Words padded = other.launch(staging, c.x()).fetch();
  other.variant = TransposeVariant::kUnpadded;
  REQUIRE_BITWISE_EQUAL(other.launch(staging, c.x()), padded, c.where());
}

// On whole tiles: each warp writes one row of a tile and reads one column. A padded column lies in 32 banks, an
// unpadded one in a single bank, which takes 31 passes more than one.
void padding_removes_every_bank_conflict(const Staging& staging, const TransposeCase& c) {
  require_capability({Capability::kSimulator});
  TransposeCase whole = c;
  whole.rows = (std::min<std::int64_t>(c.rows, 96) / kTile + 1) * kTile;
  whole.columns = (std::min<std::int64_t>(c.columns, 96) / kTile + 1) * kTile;
  const std::uint64_t requests = whole.rows * whole.columns / kTile;
  for (const TransposeVariant variant : {TransposeVariant::kPadded, TransposeVariant::kUnpadded}) {
    whole.variant = variant;
    const lockstepCounters counters = counters_of([&] { whole.launch(staging, whole.x()); });
    const std::uint64_t conflicts = variant == TransposeVariant::kPadded ? 0 : 31 * requests;
    REQUIRE_LAW(counters.shared_store_requests == requests && counters.shared_load_requests == requests,
                "{} stores and {} loads of shared memory, not {} each", counters.shared_store_requests,
                counters.shared_load_requests, requests);
    REQUIRE_LAW(counters.shared_store_conflicts == 0, "{} bank conflicts of row stores",
                counters.shared_store_conflicts);
    REQUIRE_LAW(counters.shared_load_conflicts == conflicts, "{} bank conflicts of column loads, not {}",
                counters.shared_load_conflicts, conflicts);
  }
}

void staging_is_deterministic(const Staging& staging, const ScheduledLineCase& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch_thread_map(staging, c.x()).fetch(); });
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch_tile_map(staging, c.x()).fetch(); });
}

void transpose_is_deterministic(const Staging& staging, const TransposeCase& c) {
  constexpr int kSchedules = 50;
  TransposeCase small = c;
  small.rows = std::min<std::int64_t>(c.rows, 100), small.columns = std::min<std::int64_t>(c.columns, 100);
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return small.launch(staging, small.x()).fetch(); });
}

void staging_refuses_bad_arguments(const Staging& staging, const RefusedLineCase& c) {
  using enum RefusedLineCase::Mistake;
  const auto in = DeviceArray<std::uint32_t>::input("x", c.x(), {.misalignment = c.x_offset, .poison = c.poison});
  const auto out = DeviceArray<std::uint32_t>::output("y", c.n, {.misalignment = c.y_offset, .poison = c.poison});
  struct {
    const std::uint32_t* x;
    std::int64_t n;
    std::uint32_t* y;
    StagingShape shape;
  } with = {in.data(), c.n, out.data(), shape_of(c)};
  TileMap map = c.map;
  TransposeVariant variant = TransposeVariant::kPadded;
  switch (c.mistake) {
    case kNegativeSize:
      with.n = -c.n;
      break;
    case kHugeSize:
      with.n = std::numeric_limits<std::int64_t>::max();
      break;
    case kNoThreads:
      with.shape.block = 0;
      break;
    case kTooManyThreads:
      with.shape.block = 1025;
      break;
    case kNoBlocks:
      with.shape.max_blocks = 0;
      break;
    case kNullInput:
      with.x = nullptr;
      break;
    case kNullOutput:
      with.y = nullptr;
      break;
    case kMisalignedInput:
      with.x = shifted_by_bytes(with.x, 2);
      break;
    case kMisalignedOutput:
      with.y = shifted_by_bytes(with.y, 1);
      break;
    case kOverlap:
      with.y = const_cast<std::uint32_t*>(with.x) + (c.n - 1);
      break;
    case kUnknownMap:
      map = static_cast<TileMap>(3);
      break;
    case kUnknownVariant:
      variant = static_cast<TransposeVariant>(2);
      break;
    case kNegativeRows:
      break;
  }
  const bool of_transpose = c.mistake == kUnknownVariant || c.mistake == kNegativeRows;
  const bool of_shape = c.mistake == kNoThreads || c.mistake == kTooManyThreads || c.mistake == kNoBlocks;
  if (!of_transpose) REQUIRE_REFUSED(staging.tile_map(map, with.x, with.n, with.y, with.shape, nullptr));
  if (!of_transpose && c.mistake != kUnknownMap)
    REQUIRE_REFUSED(staging.thread_map(with.x, with.n, with.y, c.a, c.b, with.shape, nullptr));
  if (!of_shape && c.mistake != kUnknownMap) {
    REQUIRE_REFUSED(staging.transpose(variant, with.x, 1, c.mistake == kNegativeRows ? -1 : with.n, with.y, nullptr));
  }
  REQUIRE_UNTOUCHED(out);
}

void staging_launches_nothing_for_no_work(const Staging& staging, const LineCase& c) {
  require_no_launch([&](cudaStream_t stream) {
    for (const auto& status : {staging.thread_map(nullptr, 0, nullptr, c.a, c.b, shape_of(c), stream),
                               staging.tile_map(c.map, nullptr, 0, nullptr, shape_of(c), stream),
                               staging.transpose(TransposeVariant::kPadded, nullptr, 0, c.n, nullptr, stream),
                               staging.transpose(TransposeVariant::kUnpadded, nullptr, c.n, 0, nullptr, stream)}) {
      REQUIRE_LAW(status.ok(), "no work is legal, but a launcher answers: {}", status.message);
    }
  });
}

const std::vector<Law<Staging>>& staging_laws() {
  static const std::vector<Law<Staging>> laws = {
      law("LaunchesNothingForNoWork", staging_launches_nothing_for_no_work, 4),
      law("RefusesBadArguments", staging_refuses_bad_arguments, 4),
      law("PaddingRemovesEveryBankConflict", padding_removes_every_bank_conflict, 20),
      law("ThreadMapMatchesItsReference", thread_map_matches_its_reference),
      law("TileMapMatchesItsReference", tile_map_matches_its_reference),
      law("TransposeMatchesItsReference", transpose_matches_its_reference),
      law("ReversingTwiceChangesNothing", reversing_twice_changes_nothing),
      law("RotatingABlockTimesChangesNothing", rotating_a_block_times_changes_nothing, 10),
      law("TransposingTwiceChangesNothing", transposing_twice_changes_nothing),
      law("TransposeVariantsAgree", transpose_variants_agree),
      law("IsDeterministic", staging_is_deterministic, 50),
      law("TransposeIsDeterministic", transpose_is_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
