// The warp exchanges' laws. A law is a statement about every case. It takes the implementations
// under test as an argument, so that a broken or rewritten kernel can replace a real one.
#pragma once

#include "kernels/shuffle.h"
#include "properties/law.h"

namespace lockstep::properties {

// Functions with the launchers' signatures and contracts (kernels/shuffle.h).
using Shuffle = kernels::ShuffleLaunchers;

// In the order in which mutants are judged.
Laws<Shuffle> shuffle_laws();

}  // namespace lockstep::properties
