// The queue of the tensor unit, and the execution of its work.
#pragma once

#include <vector>

#include "simulator/engine/state/block.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

// The operation data, for operations of a whole warp and of single lanes.
inline const program::TensorOperation& operation_of(const Warp& w, const Op& op) {
  return w.block->program->tensor_operations[static_cast<std::size_t>(op.immediate)];
}
inline const program::TensorOperation& listed_operation_of(const Warp& w, const Op& op) {
  return w.block->program->tensor_operations[op.as<SideDataFields>().index()];
}

// Finds the other block of the pair of a warp that executes .cta_group::2, and checks that all
// tcgen05 instructions of the kernel agree with `paired`. `must_live`: the other block must not
// have ended. Returns false if a finding ends the launch.
bool find_partner(Warp& w, int lane, bool paired, bool must_live, Block*& partner);
// Puts checked work into the queue. `read`: what it reads in shared memory. If the launch has a
// schedule seed, it is executed at once.
void enqueue(Warp& w, TensorWork work, std::vector<MatrixBytes> read,
             std::vector<MatrixBytes> read_of_partner = {});
// Execute the work when its time has come.
void do_multiply(Block& b, const TensorWork& work);
void do_fill(Block& b, const TensorWork& work);
void do_shift(Block& b, const TensorWork& work);

}  // namespace lockstep::engine
