#include "properties/staging.h"

#include <algorithm>
#include <limits>

#include "harness/device/device.h"
#include "harness/property/values.h"
#include "properties/contract_laws.h"
#include "properties/tall_grid.h"
#include "reference/staging.h"

namespace lockstep::properties {
namespace {

using kernels::StagingShape;
using kernels::TileMap;
using kernels::TransposeVariant;
using Words = std::vector<std::uint32_t>;

constexpr int kTile = 32;  // of the transpose
constexpr int kTileRows = 8, kBlockRows = 2 * kTile;
constexpr std::int64_t kStepsOfAWord = 4;  // of a case's work

Words list(const reference::Words& w) { return {w.begin(), w.end()}; }

// A line of words for thread_map or tile_map.
struct LineCase {
  std::int64_t n = 0;
  int block = 32;
  int max_blocks = kUnlimited;
  TileMap map = TileMap::kReverse;
  std::uint32_t a = 1, b = 0;
  int x_offset = 0, y_offset = 0;  // words past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(LineCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 17); }
  static void fields_of(LineCase& c, FieldVisitor& field, std::int64_t most) {
    using enum TileMap;
    field("n", c.n, sizes(0, most));
    field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 3, 31, 33, 1000}));
    field("max_blocks", c.max_blocks,
          choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"5", 5}}));
    field("map", c.map,
          choice<TileMap>({{"reverse", kReverse},
                           {"rotate", kRotate},
                           {"adjacent_difference", kAdjacentDifference}}));
    field("a", c.a, one_of<std::uint32_t>({1, 0, 2, 3, 0x80000001u, 0xffffffffu}));
    field("b", c.b, one_of<std::uint32_t>({0, 1, 0xffffffffu, 0x12345678u}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values,
          values_of({ValueKind::kIndex, ValueKind::kWide, ValueKind::kSpecial}));
  }
  void normalise() {
    if (n <= 1 << 13) return;
    max_blocks = kUnlimited;  // for one block, a thousand elements test as much as ten thousand
    block = std::max(block, 32);
  }
  std::int64_t work() const { return n * kStepsOfAWord; }

  Words x() const { return make_values<std::uint32_t>(values, n); }
  DeviceArray<std::uint32_t> launch_thread_map(const Staging& staging, const Words& x) const;
  DeviceArray<std::uint32_t> launch_tile_map(const Staging& staging, const Words& x) const;
  WhereIs where() const { return tiles_of_blocks(n, block, max_blocks, kernels::kStagingItems); }
};

// A matrix of words for transpose.
struct TransposeCase {
  std::int64_t rows = 0, columns = 0;
  TransposeVariant variant = TransposeVariant::kPadded;
  int x_offset = 0, y_offset = 0;
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(TransposeCase& c, FieldVisitor& field) {
    using enum TransposeVariant;
    field("rows", c.rows, sizes(0, 1100));
    field("columns", c.columns, sizes(0, 1100));
    field("variant", c.variant,
          choice<TransposeVariant>({{"padded", kPadded}, {"unpadded", kUnpadded}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide}));
  }
  void normalise() {
    constexpr std::int64_t kMax = 1 << 16;  // elements: long in one direction is enough
    if (rows * columns > kMax) columns = std::max<std::int64_t>(kMax / rows, 1);
  }
  std::int64_t work() const { return rows * columns * kStepsOfAWord; }

  Words x() const { return make_values<std::uint32_t>(values, rows * columns); }
  DeviceArray<std::uint32_t> launch(const Staging& staging, const Words& x) const;
  WhereIs where() const {
    const std::uint64_t across = columns == 0 ? 1 : (columns - 1) / kTile + 1,
                        height = std::max<std::int64_t>(rows, 1);
    return [across, height](std::size_t e) {
      const std::uint64_t j = e / height, i = e % height;  // y is columns x rows
      return Origin{.block = i / kBlockRows * across + j / kTile,
                    .thread = static_cast<std::uint32_t>(j % kTileRows * kTile + i % kTile)};
    };
  }
};

// A case of moderate size, because it runs once per schedule.
struct ScheduledLineCase : LineCase {
  static void fields(ScheduledLineCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 11); }
};

// A case with small matrices, as wide as a block, for launches that are repeated, or that do not
// execute.
struct ShortLineCase : LineCase {
  static void fields(ShortLineCase& c, FieldVisitor& field) { fields_of(c, field, 200); }
};

// The launchers' calls for a case, with their contracts; with the case's contents of x, or others.

template <class Case>
void describe_words(Call<Staging>& call, const std::uint32_t*& x, std::uint32_t*& y, const Case& c,
                    std::int64_t count, std::function<Words()> contents) {
  call.input("x", x, {.count = count}, {c.x_offset, c.poison}, std::move(contents));
  call.output<std::uint32_t>("y", y, {.count = count}, {c.y_offset, c.poison});
  call.apart("x", "y");
}

constexpr std::int64_t kMaxWords = std::numeric_limits<std::int64_t>::max() / 4;

void describe_line(Call<Staging>& call, std::int64_t& n, StagingShape& shape) {
  const std::int64_t tiles = std::int64_t{shape.block} * kernels::kStagingItems,
                     blocks = std::min<std::int64_t>((n + tiles - 1) / tiles, shape.max_blocks);
  call.grid({.threads = shape.block, .least_blocks = blocks, .most_blocks = blocks});
  call.integer("n", {0, kMaxWords}, n);
  call.integer("block", {1, 1024}, shape.block);
  call.integer("max_blocks", {1, kUnlimited}, shape.max_blocks);
  call.immaterial("max_blocks");
}

// As many tiles as a grid has blocks for; call after the arrays are defined.
void describe_length(Call<Staging>& call, const LineCase& c) {
  const std::int64_t batch = std::int64_t{c.block} * kernels::kStagingItems;
  if (c.max_blocks == kUnlimited)
    call.lengthens("n", batch, Whole{batch} * kUnlimited, {{"x"}, {"y"}});
}

Call<Staging> thread_map_call(const LineCase& c, std::function<Words()> contents) {
  Call<Staging> call("thread_map");
  auto& [x, n, y, a, b, shape] =
      call.arguments(&Staging::thread_map, nullptr, c.n, nullptr, c.a, c.b,
                     StagingShape{.block = c.block, .max_blocks = c.max_blocks});
  describe_line(call, n, shape);
  call.immaterial("block");
  describe_words(call, x, y, c, c.n, std::move(contents));
  describe_length(call, c);
  return call;
}

Call<Staging> tile_map_call(const LineCase& c, std::function<Words()> contents) {
  Call<Staging> call("tile_map");
  auto& [map, x, n, y, shape] =
      call.arguments(&Staging::tile_map, c.map, nullptr, c.n, nullptr,
                     StagingShape{.block = c.block, .max_blocks = c.max_blocks});
  call.choice("map", TileMap::kAdjacentDifference, map);
  describe_line(call, n, shape);
  describe_words(call, x, y, c, c.n, std::move(contents));
  describe_length(call, c);
  return call;
}

Call<Staging> transpose_call(const TransposeCase& c, std::function<Words()> contents,
                             const char* name = "transpose") {
  Call<Staging> call(name);
  auto& [variant, x, rows, columns, y] =
      call.arguments(&Staging::transpose, c.variant, nullptr, c.rows, c.columns, nullptr);
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max(),
                         kWidest = kTile * std::int64_t{0x7fffffff};
  call.choice("variant", TransposeVariant::kUnpadded, variant);
  call.immaterial("variant");
  call.own_kernels("variant");
  call.integer("rows", {0, c.columns > 0 ? kMaxWords / c.columns : kAny}, rows);
  call.integer("columns", {0, c.rows > 0 ? std::min(kMaxWords / c.rows, kWidest) : kAny}, columns);
  describe_words(call, x, y, c, c.rows * c.columns, std::move(contents));
  // A number of words that wraps to 0 in 32 bits.
  if (c.rows > 0 && c.columns > 0) call.product({"rows", "columns"}, kMaxWords, {kAny, kWidest});
  // For a single row: as wide as a grid may be.
  if (c.rows > 0 && c.columns > 0)
    call.together("columns_of_a_row", kWidest,
                  [&rows = rows, &columns = columns](auto value) { rows = 1, columns = value; });
  if (c.rows > 0 && c.columns > 0)
    call.promise("65536x65536",
                 [&rows = rows, &columns = columns] { rows = columns = std::int64_t{1} << 16; });
  return call;
}

// The calls of all launchers: the line, and the line as a column and as a row of a matrix as wide
// as a block.
Calls<Staging> calls_of(const LineCase& c) {
  Calls<Staging> calls;
  calls.push_back(thread_map_call(c, [&c] { return c.x(); }));
  calls.push_back(tile_map_call(c, [&c] { return c.x(); }));
  for (const bool wide : {false, true}) {
    TransposeCase t;
    t.rows = wide ? c.block : c.n, t.columns = wide ? c.n : c.block;
    t.variant = wide ? TransposeVariant::kPadded : TransposeVariant::kUnpadded;
    t.x_offset = c.x_offset, t.y_offset = c.y_offset, t.poison = c.poison;
    calls.push_back(transpose_call(
        t, [t] { return t.x(); }, wide ? "transpose_wide" : "transpose"));
  }
  return calls;
}

DeviceArray<std::uint32_t> LineCase::launch_thread_map(const Staging& staging,
                                                       const Words& x) const {
  return thread_map_call(*this, [&] { return x; }).run(staging).take<std::uint32_t>("y");
}
DeviceArray<std::uint32_t> LineCase::launch_tile_map(const Staging& staging, const Words& x) const {
  return tile_map_call(*this, [&] { return x; }).run(staging).take<std::uint32_t>("y");
}
DeviceArray<std::uint32_t> TransposeCase::launch(const Staging& staging, const Words& x) const {
  return transpose_call(*this, [&] { return x; }).run(staging).take<std::uint32_t>("y");
}

Words expected_tiles(const LineCase& c, const Words& x) {
  switch (c.map) {
    case TileMap::kReverse: return list(reference::reverse_tiles(x, c.block));
    case TileMap::kRotate: return list(reference::rotate_tiles(x, c.block));
    case TileMap::kAdjacentDifference: return list(reference::difference_tiles(x, c.block));
  }
  throw std::logic_error("a tile map without a reference");
}

void thread_map_matches_its_reference(const Staging& staging, const LineCase& c) {
  const Words x = c.x();
  REQUIRE_BITWISE_EQUAL(c.launch_thread_map(staging, x), list(reference::thread_map(x, c.a, c.b)),
                        c.where());
}

void tile_map_matches_its_reference(const Staging& staging, const LineCase& c) {
  const Words x = c.x();
  REQUIRE_BITWISE_EQUAL(c.launch_tile_map(staging, x), expected_tiles(c, x), c.where());
}

void transpose_matches_its_reference(const Staging& staging, const TransposeCase& c) {
  const Words x = c.x();
  REQUIRE_BITWISE_EQUAL(c.launch(staging, x), list(reference::transpose(x, c.rows, c.columns)),
                        c.where());
}

void reversing_twice_changes_nothing(const Staging& staging, const LineCase& c) {
  LineCase reversing = c;
  reversing.map = TileMap::kReverse;
  const Words x = c.x(), once = reversing.launch_tile_map(staging, x).fetch();
  REQUIRE_BITWISE_EQUAL(reversing.launch_tile_map(staging, once), x, c.where());
}

// Whole tiles are restored after as many rotations as a tile has elements.
void rotating_a_block_times_changes_nothing(const Staging& staging, const ScheduledLineCase& c) {
  ScheduledLineCase rotating = c;
  rotating.map = TileMap::kRotate;
  rotating.block = std::min(c.block, 33);
  rotating.n = c.n / rotating.block * rotating.block;
  const Words x = rotating.x();
  Words turned = x;
  for (int i = 0; i < rotating.block; ++i)
    turned = rotating.launch_tile_map(staging, turned).fetch();
  REQUIRE_BITWISE_EQUAL(turned, x, rotating.where());
}

void transposing_twice_changes_nothing(const Staging& staging, const TransposeCase& c) {
  TransposeCase back = c;
  std::swap(back.rows, back.columns);
  const Words x = c.x();
  REQUIRE_BITWISE_EQUAL(back.launch(staging, c.launch(staging, x).fetch()), x);
}

// More rows of blocks than a grid has, one column wide: the first block processes further rows. The
// race check matters here: in no smaller launch does a block fill its tiles a second time. Of the
// second variant, which differs in the distance of rows in shared memory alone, the simulated GPU
// executes the first blocks and the last ones.
void transposes_rows_beyond_the_grid(const Staging& staging, const TransposeCase& c) {
  TransposeCase tall = c;
  tall.columns = 1, tall.rows = TallGrid::kRowsOfBlocks * kBlockRows + 3;
  const Words x = tall.x();
  const auto require_row = [&](TransposeVariant variant, TallGrid::Blocks blocks) {
    const TallGrid grid(tall.poison, blocks);
    tall.variant = variant;
    Words y = tall.launch(staging, x).fetch();  // a column becomes a row
    grid.complete(y, x);
    REQUIRE_BITWISE_EQUAL(y, x, tall.where());
  };
  require_row(TransposeVariant::kPadded, TallGrid::Blocks::kAsLimited);
  require_row(TransposeVariant::kUnpadded, TallGrid::Blocks::kEnds);
}

void transpose_variants_agree(const Staging& staging, const TransposeCase& c) {
  TransposeCase other = c;
  const Words x = c.x();
  other.variant = TransposeVariant::kPadded;
  const Words padded = other.launch(staging, x).fetch();
  other.variant = TransposeVariant::kUnpadded;
  REQUIRE_BITWISE_EQUAL(other.launch(staging, x), padded, c.where());
}

// On whole tiles, each warp writes one row of a tile and reads one column. A padded column is in 32
// banks. An unpadded one is in a single bank, which takes 31 additional passes.
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
    REQUIRE_LAW(
        counters.shared_store_requests == requests && counters.shared_load_requests == requests,
        "{} stores and {} loads of shared memory, not {} each", counters.shared_store_requests,
        counters.shared_load_requests, requests);
    REQUIRE_LAW(counters.shared_store_bank_conflicts == 0, "{} bank conflicts of row stores",
                counters.shared_store_bank_conflicts);
    REQUIRE_LAW(counters.shared_load_bank_conflicts == conflicts,
                "{} bank conflicts of column loads, not {}", counters.shared_load_bank_conflicts,
                conflicts);
  }
}

void is_deterministic(const Staging& staging, const ScheduledLineCase& c) {
  constexpr int kSchedules = 50;
  const Words x = c.x();
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch_thread_map(staging, x).fetch(); });
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch_tile_map(staging, x).fetch(); });
}

void transpose_is_deterministic(const Staging& staging, const TransposeCase& c) {
  constexpr int kSchedules = 50;
  TransposeCase small = c;
  small.rows = std::min<std::int64_t>(c.rows, 100),
  small.columns = std::min<std::int64_t>(c.columns, 100);
  const Words x = small.x();
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return small.launch(staging, x).fetch(); });
}

}  // namespace

Laws<Staging> staging_laws() {
  return with_batteries<calls_of, ShortLineCase, Arrays::kContiguous,
                        kSaysImmaterial | kSaysLengths>({
      no_work_law<calls_of, LineCase, &LineCase::n>("LaunchesNothingForNoWork",
                                                    {.cases = 50, .cost = 4}),
      refusal_law<calls_of, ShortLineCase>("RefusesBadArguments", {.cases = 200, .cost = 4}),
      law("PaddingRemovesEveryBankConflict", padding_removes_every_bank_conflict,
          {.cases = 50, .cost = 20}),
      law("ThreadMapMatchesItsReference", thread_map_matches_its_reference, {.cases = 1000}),
      law("TileMapMatchesItsReference", tile_map_matches_its_reference, {.cases = 1500}),
      law("TransposeMatchesItsReference", transpose_matches_its_reference, {.cases = 600}),
      law("ReversingTwiceChangesNothing", reversing_twice_changes_nothing, {.cases = 200}),
      law("RotatingABlockTimesChangesNothing", rotating_a_block_times_changes_nothing,
          {.cases = 50, .cost = 10}),
      law("TransposingTwiceChangesNothing", transposing_twice_changes_nothing, {.cases = 150}),
      law("TransposeVariantsAgree", transpose_variants_agree, {.cases = 150}),
      law("TransposesRowsBeyondTheGrid", transposes_rows_beyond_the_grid,
          {.cases = 1, .cost = 1000}),
      law("IsDeterministic", is_deterministic, {.cases = 15, .cost = 50}),
      law("TransposeIsDeterministic", transpose_is_deterministic, {.cases = 10, .cost = 50}),
  });
}

}  // namespace lockstep::properties
