// Reference of cube: its chain of two roundings, and so a bound of 0. Nothing else is right.
#pragma once

#include <span>

#include "reference/bounded.h"

namespace solids::reference {
using namespace lockstep;
using namespace lockstep::reference;

// Value and bound of each of the x.size() elements.
Bounded cube(std::span<const float> x);

}  // namespace solids::reference
