// Operations that change the position of lanes (branches, calls, exits), and operations that query
// their place in the grid.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

void run_call(Warp& w, const Op& op, LaneMask mask);
void run_return(Warp& w, const Op& op, LaneMask mask);
void run_exit(Warp& w, const Op& op, LaneMask mask);
void run_branch_table(Warp& w, const Op& op, LaneMask mask);
void run_trap(Warp& w, const Op& op, LaneMask mask);
void run_nanosleep(Warp& w, const Op& op, LaneMask mask);
void run_nothing(Warp& w, const Op& op,
                 LaneMask mask);  // prefetch and other hints: no effect that a program can see

// Address arithmetic.
void run_convert_address(Warp& w, const Op& op, LaneMask mask);
void run_is_space(Warp& w, const Op& op, LaneMask mask);
void run_local_address(Warp& w, const Op& op, LaneMask mask);
void run_shared_address(Warp& w, const Op& op, LaneMask mask);
void run_alloca(Warp& w, const Op& op, LaneMask mask);
void run_stack_save(Warp& w, const Op& op, LaneMask mask);
void run_stack_restore(Warp& w, const Op& op, LaneMask mask);

// Creates the kernel's frame of a warp that starts.
void start_warp(Warp& w);

}  // namespace lockstep::engine
