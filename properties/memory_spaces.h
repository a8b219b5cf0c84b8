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

  static void fields(SpaceCase& c, FieldVisitor& field);
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

  static void fields(SymbolCase& c, FieldVisitor& field);
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
  static void fields(RefusedSpaceCase& c, FieldVisitor& field);
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
