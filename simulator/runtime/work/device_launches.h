// Grids that grids have launched (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"; the rules
// of CUDA 12: no waits within kernels).
//
// A grid has ended when all its descendants have ended; its tail launches follow, one after
// another. So the grids that descend from one launch of the host are executed as one operation of
// its stream, one grid at a time and depth first: a child after its parent has run to its end, in
// the order of launches. The guide allows this order, since a parent cannot wait for the grids that
// it launches.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/work_types.h"

namespace lockstep::runtime {

// Whether the device can launch a grid that a thread of `parent` requests. If not, prints the
// reason on stderr.
bool can_launch(Runtime& runtime, Device& device, const KernelEntry& parent, cudaStream_t stream,
                const engine::DeviceLaunch& launch);

class DeviceLaunches {
 public:
  // Adds the launches of `parent`, which has just run to its end.
  void add(std::vector<engine::DeviceLaunch> launches, const KernelWork& parent);
  // The next grid to execute; nullopt: all have ended.
  std::optional<KernelWork> next(Runtime& runtime);
  // The family number of all grids that descend from the launch, itself included
  // (check/launch_order.h).
  std::uint64_t family();

 private:
  struct Family {
    KernelWork parent;
    std::deque<engine::DeviceLaunch> children, tail;
  };
  std::vector<Family> families_;  // of grids that have run; the last is executed first
  std::uint64_t number_ = 0;      // 0: none yet
  std::uint64_t executed_ = 0;
};

}  // namespace lockstep::runtime
