// The part of a launch that one host thread runs: blocks, or clusters, in turns.
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
  // Runs until nothing is left to run or the launch pauses (Launch::pause). Pauses the launch at
  // the end of a slice (Running::advance).
  virtual void run(std::uint64_t budget) = 0;
  // Call after the search for races has forgotten its records.
  virtual void forget_accesses() = 0;
  // From now on, compares accesses with those of operations that are unordered with the launch.
  virtual void look_beside() = 0;
  // Whether nothing is left to run.
  virtual bool done() const = 0;
  // The running block that is first in the schedule; nullptr if no block has started.
  virtual Block* first() = 0;

  // Creates the loop of host thread `number` of the launch.
  static std::unique_ptr<WorkerLoop> make(Launch& launch, Worker& worker, std::size_t number);
};

}  // namespace lockstep::engine
