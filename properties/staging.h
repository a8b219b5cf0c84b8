// The staging kernels' cases and laws. A law is a sentence about every case; it takes the implementations that it
// judges, so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "harness/values.h"
#include "kernels/staging.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/staging.h).
using Staging = kernels::StagingLaunchers;

// A line of words through thread_map or tile_map.
struct LineCase {
  std::int64_t n = 0;
  int block = 32;
  int max_blocks = kUnlimited;
  kernels::TileMap map = kernels::TileMap::kReverse;
  std::uint32_t a = 1, b = 0;
  int x_offset = 0, y_offset = 0;  // words past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static constexpr int kUnlimited = 0x7fffffff;

  static void fields(LineCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 17); }
  void normalise();

  std::vector<std::uint32_t> x() const;

  // Launches the implementation on device memory under the case's contract.
  DeviceArray<std::uint32_t> launch_thread_map(const Staging& staging, const std::vector<std::uint32_t>& x) const;
  DeviceArray<std::uint32_t> launch_tile_map(const Staging& staging, const std::vector<std::uint32_t>& x) const;
  WhereIs where() const;

 protected:
  static void fields_of(LineCase& c, FieldVisitor& field, std::int64_t most) {
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
};

// A matrix of words through transpose.
struct TransposeCase {
  std::int64_t rows = 0, columns = 0;
  kernels::TransposeVariant variant = kernels::TransposeVariant::kPadded;
  int x_offset = 0, y_offset = 0;
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(TransposeCase& c, FieldVisitor& field) {
    using enum kernels::TransposeVariant;
    field("rows", c.rows, sizes(0, 1100));
    field("columns", c.columns, sizes(0, 1100));
    field("variant", c.variant, choice<kernels::TransposeVariant>({{"padded", kPadded}, {"unpadded", kUnpadded}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide}));
  }
  void normalise();

  std::vector<std::uint32_t> x() const;
  DeviceArray<std::uint32_t> launch(const Staging& staging, const std::vector<std::uint32_t>& x) const;
  WhereIs where() const;
};

// A case of moderate size, since it runs once a schedule.
struct ScheduledLineCase : LineCase {
  static void fields(ScheduledLineCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 11); }
};

// A legal case with one argument made illegal.
struct RefusedLineCase : LineCase {
  enum class Mistake {
    kNegativeSize,
    kHugeSize,
    kNoThreads,
    kTooManyThreads,
    kNoBlocks,
    kNullInput,
    kNullOutput,
    kMisalignedInput,
    kMisalignedOutput,
    kOverlap,
    kUnknownMap,
    kUnknownVariant,
    kNegativeRows
  };
  Mistake mistake = Mistake::kNegativeSize;
  static void fields(RefusedLineCase& c, FieldVisitor& field) {
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
  void normalise();
};

void thread_map_matches_its_reference(const Staging& staging, const LineCase& c);
void tile_map_matches_its_reference(const Staging& staging, const LineCase& c);
void transpose_matches_its_reference(const Staging& staging, const TransposeCase& c);
void reversing_twice_changes_nothing(const Staging& staging, const LineCase& c);
void rotating_a_block_times_changes_nothing(const Staging& staging, const ScheduledLineCase& c);
void transposing_twice_changes_nothing(const Staging& staging, const TransposeCase& c);
void transpose_variants_agree(const Staging& staging, const TransposeCase& c);
void padding_removes_every_bank_conflict(const Staging& staging, const TransposeCase& c);
void staging_is_deterministic(const Staging& staging, const ScheduledLineCase& c);
void transpose_is_deterministic(const Staging& staging, const TransposeCase& c);
void staging_refuses_bad_arguments(const Staging& staging, const RefusedLineCase& c);
void staging_launches_nothing_for_no_work(const Staging& staging, const LineCase& c);

// All of them, in the order in which a suspect kernel meets them.
const std::vector<Law<Staging>>& staging_laws();

}  // namespace lockstep::properties
