// What the tensor unit has to do, and how it is done.
#pragma once

#include <vector>

#include "simulator/engine/state/block.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

// The data of an operation that a whole warp executes, and of one that its lanes do.
inline const program::TensorOperation& operation_of(const Warp& w, const Op& op) {
  return w.block->program->tensor_operations[static_cast<std::size_t>(op.immediate)];
}
inline const program::TensorOperation& listed_operation_of(const Warp& w, const Op& op) {
  return w.block->program->tensor_operations[op.as<SideDataFields>().index()];
}

// The other block of the pair of a warp that executes .cta_group::2, and whether all tcgen05 of the
// kernel agrees with `paired`. must_live: it may not have ended. False: a finding ends the launch.
bool find_partner(Warp& w, int lane, bool paired, bool must_live, Block*& partner);
// Work that has been checked goes into the queue; `read`: what it reads in shared memory. Under a
// schedule of its own it is done at once.
void enqueue(Warp& w, TensorWork work, std::vector<MatrixBytes> read,
             std::vector<MatrixBytes> read_of_partner = {});
// What the work does, when its time has come.
void do_multiply(Block& b, const TensorWork& work);
void do_fill(Block& b, const TensorWork& work);
void do_shift(Block& b, const TensorWork& work);

}  // namespace lockstep::engine
