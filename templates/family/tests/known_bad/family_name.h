// Kernels like family_name under suspicion; see suspect.h.
#pragma once

#include "kernels/family_name.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

Suspects<decltype(kernels::family_name)> family_name_suspects();

}  // namespace lockstep::known_bad
