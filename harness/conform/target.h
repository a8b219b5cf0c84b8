// The devices on which a run executes its suites: parses --device=... for this machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/conform/driver.h"

namespace lockstep {

// One device that executes suites.
struct Target {
  // The value for --device=: "simulator", "sm_80", "0"; empty: the simulator with the user's
  // settings.
  std::string device;
  bool silicon = false;
  std::string name;  // for display: "the simulated GPU", "GPU 0, NVIDIA H100 80GB HBM3"
  std::map<std::string, std::string>
      variables;  // environment variables for the suites: LOCKSTEP_GPU, ...
};

struct Targets {
  std::vector<Target> targets;
  std::string error;  // a sentence; then there are no targets
  // Whether the error is a device that the machine lacks; otherwise the text is invalid.
  bool absent = false;
};

// Parses `device`: "" or "simulator", "sm_NN" (the simulator as that GPU), "gpu" (the first GPU),
// "all" (every GPU), or ordinals such as "0" and "0,2". If there are several GPUs, the suites of a
// target see only its own.
Targets choose_targets(std::string_view device, const Driver& driver);

// As above, but starts the driver only if `device` needs a GPU.
Targets choose_targets(std::string_view device);

}  // namespace lockstep
