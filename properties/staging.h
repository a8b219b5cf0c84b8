// The staging kernels' laws. A law is a statement about every case. It takes the implementations
// under test as an argument, so that a broken or rewritten kernel can replace a real one.
#pragma once

#include "kernels/staging.h"
#include "properties/law.h"

namespace lockstep::properties {

// Functions with the launchers' signatures and contracts (kernels/staging.h).
using Staging = kernels::StagingLaunchers;

// In the order in which mutants are judged.
Laws<Staging> staging_laws();

}  // namespace lockstep::properties
