// Detects threads that have ended and thereby skipped a barrier that the others of their block or
// cluster pass.
//
// PTX does not wait for them: its barriers wait for non-exited threads, and `exit` releases a
// barrier that waited only for the exiting threads (PTX ISA, bar and barrier, barrier.cluster,
// exit). Hardware continues, too. The CUDA C++ Programming Guide forbids it: __syncthreads() is
// allowed in conditional code only if the condition is the same in the whole block. So it is
// information by default, and an error with check::kStrictBarriers. Not reported, because nothing
// forbids it:
// - whole warps that a barrier with a thread count does not count;
// - lanes that have ended before their warp reaches a `barrier` with a count and without .aligned;
// - threads that have arrived (bar.arrive, barrier.cluster.arrive) and then ended.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Records where lanes of the running split end. Call from the operation that ends them.
void note_exit(Warp& w, LaneMask lanes);

// The threads that are missing at a barrier, by the operation at which they ended.
class AbsentThreads {
 public:
  // Adds `lanes` of the warp, which have ended.
  void add(const Warp& w, LaneMask lanes);
  bool empty() const { return count_ == 0; }
  std::uint32_t count() const { return count_; }
  std::vector<std::uint32_t> exits() const;  // operations, each once

 private:
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> exits_;
};

// Whether to report the barrier operation at `pc`: this host thread has not yet seen it miss
// threads, and such findings are enabled. Repetitions are counted.
bool begins_to_miss(Warp& w, std::uint32_t pc);
// Reports that the barrier of `split` of warp `at` completes, or is arrived at, without `absent`.
// Call after begins_to_miss(). `group` names the threads of the barrier: "the block". `w` is the
// running warp. Returns false if the finding ends the launch.
bool report_absent(Warp& w, const Warp& at, const WarpSplit& split, const AbsentThreads& absent,
                   const char* group);

}  // namespace lockstep::engine
