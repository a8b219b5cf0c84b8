// The laws of family_name. A law is a sentence about every case; it takes the implementation that
// it judges, so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <functional>

#include "kernels/family_name.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/family_name.h).
using FamilyName = std::function<decltype(kernels::family_name)>;

// In the order in which a mutant meets them.
Laws<FamilyName> family_name_laws();

}  // namespace lockstep::properties
