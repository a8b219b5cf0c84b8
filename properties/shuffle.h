// The warp exchanges' laws. A law is a sentence about every case; it takes the implementations that
// it judges, so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include "kernels/shuffle.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/shuffle.h).
using Shuffle = kernels::ShuffleLaunchers;

// In the order in which a mutant meets them.
Laws<Shuffle> shuffle_laws();

}  // namespace lockstep::properties
