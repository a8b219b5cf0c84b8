// One host thread's part of a launch: the blocks, or clusters, that it runs by turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

class WorkerLoop {
 public:
  virtual ~WorkerLoop() = default;
  // Goes on until there is nothing left to run, or the launch is to pause (Launch::pause). Pauses
  // the launch when it has executed `budget` warp instructions; 0: however many.
  virtual void run(std::uint64_t budget) = 0;
  // The search for races has forgotten what it recorded.
  virtual void forget_accesses() = 0;
  // From now on accesses are compared with those of operations beside the launch.
  virtual void look_beside() = 0;
  // Whether it has no more to run.
  virtual bool done() const = 0;
  // The block that comes first in the schedule; nullptr if none has begun.
  virtual Block* first() = 0;

  // The `number`-th of the launch.
  static std::unique_ptr<WorkerLoop> make(Launch& launch, Worker& worker, std::size_t number);
};

}  // namespace lockstep::engine
