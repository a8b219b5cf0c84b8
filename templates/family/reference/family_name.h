// Reference of family_name. FILL IN: the declared chain of the kernel, and the bound with its
// derivation.
#pragma once

#include <span>

#include "reference/bounded.h"

namespace lockstep::reference {

// Value and bound of each of the x.size() elements.
Bounded family_name(std::span<const float> x);

}  // namespace lockstep::reference
