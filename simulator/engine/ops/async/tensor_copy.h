// Copies through tensor maps (PTX ISA 9.7.9.27), and changes of maps (tensormap.replace,
// tensormap.cp_fenceproxy).
//
// A copy is checked and its source read when it is issued, and done as bulk copies are
// (async_copy.h): what goes to shared memory comes with the phase of its mbarrier, what goes to
// global memory is there at once and its source in use until it is waited for. What PTX leaves open
// is as an NVIDIA H100 has it (golden/tensor_maps): of a store, 16 bytes that begin in the tensor's
// innermost dimension are written whole, even where the dimension ends among them.
#pragma once

#include "simulator/engine/state/vocabulary.h"
#include "simulator/program/copies.h"

namespace lockstep::engine {

void run_tensor_copy(Warp& w, const Op& op, LaneMask mask);
void run_tensor_map_replace(Warp& w, const Op& op, LaneMask mask);
void run_tensor_map_copy(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
