// The programs of tests/exec that nvcc built.
#pragma once

#include <string>

namespace lockstep {

// The command of a program by its name; several programs share one binary.
inline std::string program(const std::string& name) {
  for (const char* one :
       {"certified", "devices", "dynamic_shared", "goes_on", "graph", "grid_sync", "printf",
        "races", "reduction", "repeats", "streams", "textures", "waits_for_host"})
    if (name == one) return "tests/exec/several " + name;
  return "tests/exec/" + name;
}

}  // namespace lockstep
