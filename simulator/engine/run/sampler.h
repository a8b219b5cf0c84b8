// Samples the host threads of launches that have a TimeProfile.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulator/engine/launch/time_profile.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// The samples of one launch.
class LaunchSamples {
 public:
  LaunchSamples(const Launch& launch, std::vector<Worker>& workers);
  // Adds the samples to the launch's TimeProfile.
  ~LaunchSamples();
  LaunchSamples(const LaunchSamples&) = delete;
  LaunchSamples& operator=(const LaunchSamples&) = delete;

  // Called by the sampler only. `seconds`: the time since its last sample.
  void look(double seconds);

 private:
  const Launch& launch_;
  std::vector<Worker>& workers_;
  std::unordered_map<std::uint64_t, double> seconds_;  // by pc and Doing
};

}  // namespace lockstep::engine
