// Operations that all 32 lanes of a warp execute together (.sync.aligned of matrices, PTX
// ISA 9.7.14).
#pragma once

#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

// Whether all lanes of the warp that live are here. If not, those that are wait until the others
// come, and execute the operation with them then. A lane that has exited, or that the block never
// had, is a finding: the result would be undefined.
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
// Before a warp's last lanes exit: it has executed as many of these as the others of its warpgroup,
// and what it has not waited for is still there.
void check_warpgroup_at_exit(Warp& w);

}  // namespace lockstep::engine
