// Machine code from ptxas, which is run as a process.
#pragma once

#include <string>

namespace lockstep::fuzz::differential {

struct Assembled {
  bool ok = false;
  std::string cubin;
  std::string messages;  // what ptxas said, or how it ended
};

// `level`: 0, 1 or 3. Files go to `folder` under names that begin with `name`. Ends ptxas after
// `seconds`.
Assembled assemble(const std::string& ptxas, const std::string& folder, const std::string& name,
                   const std::string& ptx, int level, int seconds);

}  // namespace lockstep::fuzz::differential
