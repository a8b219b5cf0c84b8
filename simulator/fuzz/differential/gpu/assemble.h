// Generates machine code by running ptxas as a process.
#pragma once

#include <string>

namespace lockstep::fuzz::differential {

struct Assembled {
  bool ok = false;
  std::string cubin;
  std::string messages;  // ptxas's messages, or how it ended
};

// `level`: 0, 1 or 3. Writes files to `folder` with names that start with `name`. Kills ptxas after
// `seconds`.
Assembled assemble(const std::string& ptxas, const std::string& folder, const std::string& name,
                   const std::string& ptx, int level, int seconds);

}  // namespace lockstep::fuzz::differential
