// Copies through tensor maps (PTX ISA 9.7.9.27), and changes of maps (tensormap.replace,
// tensormap.cp_fenceproxy).
//
// A copy is checked and its source read when it is issued. It then completes as bulk copies do
// (async_copy.h). Bytes for shared memory arrive with the phase of the mbarrier. Bytes for global
// memory are stored at once, and the source stays in use until it is waited for. Where PTX leaves
// the result open, an NVIDIA H100 is followed (golden/tensor_maps): in a store, 16 bytes that start
// inside the tensor's innermost dimension are written as a whole, even if the dimension ends among
// them.
#pragma once

#include "simulator/engine/state/vocabulary.h"
#include "simulator/program/copies.h"

namespace lockstep::engine {

void run_tensor_copy(Warp& w, const Op& op, LaneMask mask);
void run_tensor_map_replace(Warp& w, const Op& op, LaneMask mask);
void run_tensor_map_copy(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
