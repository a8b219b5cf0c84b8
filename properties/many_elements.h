// Lines of more elements than 31 bits count, for the families that go along a line: on devices that
// have the memory for them.
//
// On silicon every element is computed. Inputs are 0 but for windows at both ends and about element
// 2^31; results are compared there and in places between. The simulated GPU runs the first and the
// last blocks of the grid alone (SampledBlocks), and only the windows at the ends have an input:
// what these blocks leave there must be right, and they must leave something at either end.
#pragma once

#include "kernels/staging.h"
#include "properties/law.h"
#include "properties/memory_access.h"
#include "properties/memory_spaces.h"
#include "properties/shuffle.h"
#include "properties/stencil.h"
#include "properties/tensor_copy.h"

namespace lockstep::properties {

Laws<MemoryAccess> many_access_laws();
Laws<Shuffle> many_shuffle_laws();
Laws<MemorySpaces> many_space_laws();
Laws<TensorCopy> many_copy_laws();
Laws<Stencil> many_stencil_laws();
Laws<kernels::StagingLaunchers> many_staging_laws();

}  // namespace lockstep::properties
