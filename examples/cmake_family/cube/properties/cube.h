// The laws of cube. A law is a sentence about every case; it takes the implementation that it
// judges, so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <functional>

#include "kernels/cube.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/cube.h).
using Cube = std::function<decltype(kernels::cube)>;

// In the order in which a mutant meets them.
Laws<Cube> cube_laws();

}  // namespace lockstep::properties
