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

// Executes the queued work up to the next commit, whose arrival may release other threads. Returns
// false if the queue is empty.
bool finish_tensor_operations(Block& b);
// Whether a product or copy of a pair is queued and the other block can still run. Such work is
// executed when neither block can.
bool leaves_time_to_partner(const Block& b);
// Call before the last lanes of a block exit: its work must be complete and its columns free.
void check_tensor_memory_at_exit(Warp& w);

}  // namespace lockstep::engine
