// The memory spaces' laws. A law is a statement about every case. It takes the implementations
// under test as an argument, so that a broken or rewritten kernel can replace a real one.
#pragma once

#include "kernels/memory_spaces.h"
#include "properties/law.h"

namespace lockstep::properties {

// Functions with the launchers' signatures and contracts (kernels/memory_spaces.h).
using MemorySpaces = kernels::MemorySpaceLaunchers;

// In the order in which mutants are judged.
Laws<MemorySpaces> memory_space_laws();

}  // namespace lockstep::properties
