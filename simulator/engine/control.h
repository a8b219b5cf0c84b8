// Operations that change where lanes are, and those that ask about their place in the grid.
#pragma once

#include "simulator/engine/block.h"

namespace lockstep::engine {

void run_call(Warp& w, const Op& op, LaneMask mask);    // target: index into Program::calls
void run_return(Warp& w, const Op& op, LaneMask mask);  // of the kernel: exit
void run_exit(Warp& w, const Op& op, LaneMask mask);
void run_branch_table(Warp& w, const Op& op, LaneMask mask);  // src[0]: index; target: index into Program::tables
void run_trap(Warp& w, const Op& op, LaneMask mask);
void run_nanosleep(Warp& w, const Op& op, LaneMask mask);     // src[0]: nanoseconds
void run_nothing(Warp& w, const Op& op, LaneMask mask);       // prefetch and other hints: no effect that a program can see

// special_registers.cc: mov from a special register. target: ptx::SpecialRegister; width: bytes of the destination.
void run_special(Warp& w, const Op& op, LaneMask mask);
bool special_needs_clock(std::uint32_t special);

// Address arithmetic. immediate: what is added. width: bytes of the destination and the source (4: a shared or local offset).
void run_convert_address(Warp& w, const Op& op, LaneMask mask);   // mode 0: add shared window, 1: subtract it, 2, 3: local window
void run_is_space(Warp& w, const Op& op, LaneMask mask);          // space: which; dst: predicate
void run_local_address(Warp& w, const Op& op, LaneMask mask);     // address of a variable of a function's frame: base + immediate
void run_parameter_address(Warp& w, const Op& op, LaneMask mask); // of the parameters' copy in memory, plus immediate
void run_alloca(Warp& w, const Op& op, LaneMask mask);            // src[0]: bytes, immediate: alignment
void run_stack_save(Warp& w, const Op& op, LaneMask mask);
void run_stack_restore(Warp& w, const Op& op, LaneMask mask);

// builtins.cc: vprintf, malloc, free, __assertfail.
void run_builtin(Warp& w, const Call& call, LaneMask mask);

// Makes the kernel's frame of a warp that starts.
void start_warp(Warp& w);

}  // namespace lockstep::engine
