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

  static void fields(LineCase& c, FieldVisitor& field);
  void normalise();

  std::vector<std::uint32_t> x() const;

  // Launches the implementation on device memory under the case's contract.
  DeviceArray<std::uint32_t> launch_thread_map(const Staging& staging, const std::vector<std::uint32_t>& x) const;
  DeviceArray<std::uint32_t> launch_tile_map(const Staging& staging, const std::vector<std::uint32_t>& x) const;
  WhereIs where() const;

 protected:
  static void fields_of(LineCase& c, FieldVisitor& field, std::int64_t most);
};

// A matrix of words through transpose.
struct TransposeCase {
  std::int64_t rows = 0, columns = 0;
  kernels::TransposeVariant variant = kernels::TransposeVariant::kPadded;
  int x_offset = 0, y_offset = 0;
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(TransposeCase& c, FieldVisitor& field);
  void normalise();

  std::vector<std::uint32_t> x() const;
  DeviceArray<std::uint32_t> launch(const Staging& staging, const std::vector<std::uint32_t>& x) const;
  WhereIs where() const;
};

// A case of moderate size, since it runs once a schedule.
struct ScheduledLineCase : LineCase {
  static void fields(ScheduledLineCase& c, FieldVisitor& field);
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
  static void fields(RefusedLineCase& c, FieldVisitor& field);
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
