// multimem.ld_reduce, multimem.st and multimem.red: one address, memory of several devices (PTX ISA
// 9.0, 9.7.9.14).
//
// Each is as many accesses as devices are bound to the address, one after another in the order in
// which the devices were added to the object. A sum rounds after each of them, to the type or to
// what .acc names.
#pragma once

#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

void run_multimem(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
