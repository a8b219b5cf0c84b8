// tcgen05: the handlers of operations on tensor memory (PTX ISA 9.7.16).
#pragma once

#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

// Action::kTensorAllocate, kTensorFree, kTensorRelinquish.
void run_tensor_allocate(Warp& w, const Op& op, LaneMask mask);
void run_tensor_free(Warp& w, const Op& op, LaneMask mask);
void run_tensor_relinquish(Warp& w, const Op& op, LaneMask mask);
// Action::kTensorLoad, kTensorStore, kTensorWait, kTensorFence.
void run_tensor_load(Warp& w, const Op& op, LaneMask mask);
void run_tensor_store(Warp& w, const Op& op, LaneMask mask);
void run_tensor_wait(Warp& w, const Op& op, LaneMask mask);
void run_tensor_fence(Warp& w, const Op& op, LaneMask mask);
// Action::kTensorFill, kTensorShift, kTensorMultiply, kTensorCommit.
void run_tensor_fill(Warp& w, const Op& op, LaneMask mask);
void run_tensor_shift(Warp& w, const Op& op, LaneMask mask);
void run_tensor_multiply(Warp& w, const Op& op, LaneMask mask);
void run_tensor_commit(Warp& w, const Op& op, LaneMask mask);

// Does what is under way up to the next commit, whose arrival may let others go on. False: there is
// nothing.
bool finish_tensor_operations(Block& b);
// Whether a product or copy of a pair is under way, and the other block can still run: it is done
// when neither can.
bool leaves_time_to_partner(const Block& b);
// Before the last lanes of a block exit: what it has issued is done, and its columns are free.
void check_tensor_memory_at_exit(Warp& w);

}  // namespace lockstep::engine
