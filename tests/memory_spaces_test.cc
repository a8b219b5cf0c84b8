// The kernels of the memory spaces against every law of properties/memory_spaces.h.
#include "kernels/memory_spaces.h"

#include <gtest/gtest.h>

#include "harness/property.h"
#include "properties/memory_spaces.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const MemorySpaces spaces;  // the real launchers

PROPERTY_CASES(MemorySpaces, LocalArraysBelongToTheirThreads, 400, const SpaceCase& c) {
  local_arrays_belong_to_their_threads(spaces, c);
}

PROPERTY_CASES(MemorySpaces, SharedArraysBelongToTheirBlocks, 400, const SpaceCase& c) {
  shared_arrays_belong_to_their_blocks(spaces, c);
}

PROPERTY_CASES(MemorySpaces, DeviceVariablesOutliveKernels, 200, const SpaceCase& c) {
  device_variables_outlive_kernels(spaces, c);
}

PROPERTY_CASES(MemorySpaces, SymbolsComeBackAsTheyWereWritten, 400, const SymbolCase& c) {
  symbols_come_back_as_they_were_written(spaces, c);
}

PROPERTY_CASES(MemorySpaces, CopiesLeaveTheRestOfASymbolAlone, 400, const SymbolCase& c) {
  copies_leave_the_rest_of_a_symbol_alone(spaces, c);
}

PROPERTY_CASES(MemorySpaces, KernelsReadWhatTheHostWrote, 500, const SymbolCase& c) {
  kernels_read_what_the_host_wrote(spaces, c);
}

PROPERTY_CASES(MemorySpaces, TheHostReadsWhatKernelsWrote, 300, const SymbolCase& c) {
  the_host_reads_what_kernels_wrote(spaces, c);
}

PROPERTY_CASES(MemorySpaces, ManagedMemoryIsOneForHostAndDevice, 300, const SymbolCase& c) {
  managed_memory_is_one_for_host_and_device(spaces, c);
}

PROPERTY_CASES(MemorySpaces, ManagedMemoryMayBeAllocated, 200, const SymbolCase& c) {
  managed_memory_may_be_allocated(spaces, c);
}

PROPERTY_CASES(MemorySpaces, LaunchNothingForNoWork, 50, const SymbolCase& c) {
  memory_spaces_launch_nothing_for_no_work(spaces, c);
}

PROPERTY_CASES(MemorySpaces, AreDeterministic, 10, const SpaceCase& c) { memory_spaces_are_deterministic(spaces, c); }

PROPERTY_CASES(MemorySpaces, RefuseBadArguments, 200, const RefusedSpaceCase& c) {
  memory_spaces_refuse_bad_arguments(spaces, c);
}

TEST(MemorySpaceLaws, AreAllTestsHere) { expect_every_law_is_a_test("MemorySpaces", memory_space_laws()); }

}  // namespace
}  // namespace lockstep::properties
