// Assembles machine code with ptxas, which runs as a separate process.
#pragma once

#include <string>

namespace lockstep::fuzz::differential {

struct Assembled {
  bool ok = false;
  std::string cubin;
  std::string messages;  // the output of ptxas, or how it ended
};

// `level`: 0, 1 or 3. Writes files to `folder` whose names begin with `name`. Kills ptxas after
// `seconds`.
Assembled assemble(const std::string& ptxas, const std::string& folder, const std::string& name,
                   const std::string& ptx, int level, int seconds);

}  // namespace lockstep::fuzz::differential
