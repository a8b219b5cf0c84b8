// The staging kernels' laws. A law is a sentence about every case; it takes the implementations
// that it judges, so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include "kernels/staging.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/staging.h).
using Staging = kernels::StagingLaunchers;

// In the order in which a mutant meets them.
Laws<Staging> staging_laws();

}  // namespace lockstep::properties
