// The devices that a run's suites run on: --device=... parsed, and compared with the machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/conform/driver.h"

namespace lockstep {

// One device that suites run on.
struct Target {
  // As --device= names it again: "simulator", "sm_80", "0"; empty: the simulator, as it is set up.
  std::string device;
  bool silicon = false;
  std::string name;  // for people: "the simulated GPU", "GPU 0, NVIDIA H100 80GB HBM3"
  std::map<std::string, std::string>
      variables;  // what its suites' environment needs: LOCKSTEP_GPU, ...
};

struct Targets {
  std::vector<Target> targets;
  std::string error;  // a sentence; then there are no targets
  // The error is that the machine lacks what was asked for, not that nobody understands it.
  bool absent = false;
};

// `device` is "" or "simulator", "sm_NN" (the simulator as that GPU), "gpu" (the first one), "all"
// (every GPU), or ordinals such as "0" and "0,2". With several GPUs each is made the only one that
// its suites see.
Targets choose_targets(std::string_view device, const Driver& driver);

// The same for what needs no GPU, without starting a driver for it.
Targets choose_targets(std::string_view device);

}  // namespace lockstep
