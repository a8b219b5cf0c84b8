// Where the program made the call of the runtime that runs.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::runtime {

struct CallSite {
  std::string object;        // path of the program or library
  std::uint64_t offset = 0;  // in it, of the instruction after the call
  std::string key(
      const char* api_name) const;  // "cudaMemcpyAsync@program+0x1234": of one site always the same
};
// Of the call of `api_name` that runs; where the program says <<<>>>, for a launch that was made
// so.
CallSite call_site(const char* api_name);

}  // namespace lockstep::runtime
