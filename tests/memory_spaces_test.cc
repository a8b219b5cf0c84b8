// Runs every law of properties/memory_spaces.h on the kernels of the memory spaces.
#include "properties/memory_spaces.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("MemorySpaces", memory_space_laws(), MemorySpaces(), "MemorySpace");

}  // namespace
}  // namespace lockstep::properties
