// The memory spaces' laws. A law is a sentence about every case; it takes the implementations that
// it judges, so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include "kernels/memory_spaces.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/memory_spaces.h).
using MemorySpaces = kernels::MemorySpaceLaunchers;

// In the order in which a mutant meets them.
Laws<MemorySpaces> memory_space_laws();

}  // namespace lockstep::properties
