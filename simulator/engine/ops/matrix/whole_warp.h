// Operations that all 32 lanes of a warp execute together (.sync.aligned of matrices, PTX
// ISA 9.7.14).
#pragma once

#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

// Whether all live lanes of the warp are here. If not, those that are here wait for the others, and
// execute the operation together with them. A lane that has exited, or that the block never had, is
// a finding: the result would be undefined.
bool whole_warp(Warp& w, const Op& op, LaneMask mask);

// Action::kMultiply, kMoveMatrix.
void run_multiply(Warp& w, const Op& op, LaneMask mask);
void run_move_matrix(Warp& w, const Op& op, LaneMask mask);
// Action::kLoadMatrix, kStoreMatrix, kLoadFragment, kStoreFragment.
void run_load_matrix(Warp& w, const Op& op, LaneMask mask);
void run_store_matrix(Warp& w, const Op& op, LaneMask mask);
void run_load_fragment(Warp& w, const Op& op, LaneMask mask);
void run_store_fragment(Warp& w, const Op& op, LaneMask mask);

// Action::kWarpgroupFence, kWarpgroupMultiply, kWarpgroupCommit, kWarpgroupWait (PTX ISA 9.7.15).
void run_warpgroup_fence(Warp& w, const Op& op, LaneMask mask);
void run_warpgroup_multiply(Warp& w, const Op& op, LaneMask mask);
void run_warpgroup_commit(Warp& w, const Op& op, LaneMask mask);
void run_warpgroup_wait(Warp& w, const Op& op, LaneMask mask);
// Action::kWarpgroupRegisters: setmaxnreg (PTX ISA 9.7.19).
void run_warpgroup_registers(Warp& w, const Op& op, LaneMask mask);
// Call before a warp's last lanes exit. It must have executed as many of these operations as the
// other warps of its warpgroup, and the operands of those it has not waited for must be unchanged.
void check_warpgroup_at_exit(Warp& w);

}  // namespace lockstep::engine
