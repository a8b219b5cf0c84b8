// Lines of more elements than 31 bits count, for families that process a line; on devices with
// enough memory.
//
// On silicon every element is computed. Inputs are 0 except for windows at both ends and around
// element 2^31. Results are compared there and at places between. The simulated GPU executes only
// the first and the last blocks of the grid (SampledBlocks), and only the windows at the ends have
// an input. These blocks must leave correct results, and must write elements at each end.
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
