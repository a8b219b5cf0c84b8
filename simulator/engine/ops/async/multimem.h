// multimem.ld_reduce, multimem.st and multimem.red: one address, memory of several devices (PTX ISA
// 9.0, 9.7.9.14).
//
// Each operation makes one access for each device bound to the address, in the order in which the
// devices were added to the object. A sum is rounded after each access, to the type or to the
// precision of .acc.
#pragma once

#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

void run_multimem(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
