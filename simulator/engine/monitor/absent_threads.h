// Threads that have ended, and with that skipped a barrier which the others of their block or
// cluster pass.
//
// PTX does not wait for them: its barriers wait for non-exited threads, and `exit` releases a
// barrier that only the exiting threads held up (PTX ISA, bar and barrier, barrier.cluster, exit).
// Hardware goes on. The CUDA C++ Programming Guide forbids it: __syncthreads() is allowed in
// conditional code only if the condition is the same in the whole block. So it is information by
// default, and an error with check::kStrictBarriers. Not reported, because nothing forbids it:
//   - whole warps that a barrier with a thread count does not count;
//   - lanes that have ended before their warp comes to a `barrier` with a count and without
//   .aligned;
//   - threads that have arrived (bar.arrive, barrier.cluster.arrive) and then ended.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Remembers where lanes of the running split end. To be called by the operation that ends them.
void note_exit(Warp& w, LaneMask lanes);

// The threads that a barrier misses, by the operation at which they ended.
class AbsentThreads {
 public:
  // `lanes` of the warp have ended.
  void add(const Warp& w, LaneMask lanes);
  bool empty() const { return count_ == 0; }
  std::uint32_t count() const { return count_; }
  std::vector<std::uint32_t> exits() const;  // operations, each once

 private:
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> exits_;
};

// Whether the barrier operation at `pc` misses threads for the first time that this host thread
// knows of, and they are reported at all. A further time is counted.
bool begins_to_miss(Warp& w, std::uint32_t pc);
// To be called after begins_to_miss(). The barrier of `split` of warp `at` completes, or is arrived
// at, without `absent`; `group` names whose threads it is for: "the block". `w` runs now, and stops
// when the launch ends with this finding. False: it does.
bool report_absent(Warp& w, const Warp& at, const WarpSplit& split, const AbsentThreads& absent,
                   const char* group);

}  // namespace lockstep::engine
