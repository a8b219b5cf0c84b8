// The memory spaces' cases and laws. A law is a sentence about every case; it takes the implementations that it judges,
// so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "harness/values.h"
#include "kernels/memory_spaces.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/memory_spaces.h).
using MemorySpaces = kernels::MemorySpaceLaunchers;

// A grid whose threads use memory of their own and of their block.
struct SpaceCase {
  int block = 32;
  int blocks = 1;
  int shift = 0;
  kernels::SharedKind shared = kernels::SharedKind::kStatic;
  int x_offset = 0, y_offset = 0;  // words past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(SpaceCase& c, FieldVisitor& field) {
    using enum kernels::SharedKind;
    field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 31, 33, 1000}));
    field("blocks", c.blocks, one_of<int>({1, 2, 3, 7, 40}));
    field("shift", c.shift, range(0, 100));
    field("shared", c.shared, choice<kernels::SharedKind>({{"static", kStatic}, {"dynamic", kDynamic}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide, ValueKind::kSpecial}));
  }
  void normalise();
  kernels::SpaceShape shape() const { return {.block = block, .blocks = static_cast<unsigned>(blocks)}; }
  std::size_t threads() const { return static_cast<std::size_t>(block) * static_cast<std::size_t>(blocks); }
};

// A range of one of the arrays of 64 KB, and an access by n threads.
struct SymbolCase {
  std::int64_t first = 0, count = 0;
  std::int64_t n = 0;
  kernels::SymbolSpace space = kernels::SymbolSpace::kDevice;
  int block = 32;
  bool one_address = false;  // all lanes of a warp read the same word
  int y_offset = 0;
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(SymbolCase& c, FieldVisitor& field) {
    using enum kernels::SymbolSpace;
    field("first", c.first, sizes(0, kernels::kSymbolWords));
    field("count", c.count, sizes(0, kernels::kSymbolWords));
    field("n", c.n, sizes(0, 5000));
    field("space", c.space, choice<kernels::SymbolSpace>({{"device", kDevice}, {"constant", kConstant}}));
    field("block", c.block, one_of<int>({32, 64, 128, 256, 1024, 1, 33}));
    field("one_address", c.one_address, booleans());
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide}));
  }
  // The range lies inside the array; at its very end as often as not.
  void normalise();
};

// A legal case with one argument made illegal.
struct RefusedSpaceCase : SpaceCase {
  enum class Mistake {
    kNoThreads,
    kTooManyThreads,
    kNoBlocks,
    kNegativeShift,
    kNullOutput,
    kMisalignedOutput,
    kPastTheEnd,
    kBeforeTheStart,
    kNegativeCount,
    kUnknownKind,
    kUnknownSpace
  };
  Mistake mistake = Mistake::kNoThreads;
  static void fields(RefusedSpaceCase& c, FieldVisitor& field) {
    using enum Mistake;
    SpaceCase::fields(c, field);
    field("mistake", c.mistake,
          choice<Mistake>({{"no_threads", kNoThreads},
                           {"too_many_threads", kTooManyThreads},
                           {"no_blocks", kNoBlocks},
                           {"negative_shift", kNegativeShift},
                           {"null_output", kNullOutput},
                           {"misaligned_output", kMisalignedOutput},
                           {"past_the_end", kPastTheEnd},
                           {"before_the_start", kBeforeTheStart},
                           {"negative_count", kNegativeCount},
                           {"unknown_kind", kUnknownKind},
                           {"unknown_space", kUnknownSpace}}));
  }
};

void local_arrays_belong_to_their_threads(const MemorySpaces& spaces, const SpaceCase& c);
void shared_arrays_belong_to_their_blocks(const MemorySpaces& spaces, const SpaceCase& c);
void device_variables_outlive_kernels(const MemorySpaces& spaces, const SpaceCase& c);
void symbols_come_back_as_they_were_written(const MemorySpaces& spaces, const SymbolCase& c);
void copies_leave_the_rest_of_a_symbol_alone(const MemorySpaces& spaces, const SymbolCase& c);
void kernels_read_what_the_host_wrote(const MemorySpaces& spaces, const SymbolCase& c);
void the_host_reads_what_kernels_wrote(const MemorySpaces& spaces, const SymbolCase& c);
void managed_memory_is_one_for_host_and_device(const MemorySpaces& spaces, const SymbolCase& c);
// The same for what cudaMallocManaged gives.
void managed_memory_may_be_allocated(const MemorySpaces& spaces, const SymbolCase& c);
void memory_spaces_launch_nothing_for_no_work(const MemorySpaces& spaces, const SymbolCase& c);
void memory_spaces_are_deterministic(const MemorySpaces& spaces, const SpaceCase& c);
void memory_spaces_refuse_bad_arguments(const MemorySpaces& spaces, const RefusedSpaceCase& c);

// All of them, in the order in which a suspect kernel meets them.
const std::vector<Law<MemorySpaces>>& memory_space_laws();

}  // namespace lockstep::properties
