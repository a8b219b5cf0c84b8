// The place of the running runtime call in the program.
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
// The site of the running call of `api_name`; for a launch by <<<>>>, the place of that expression.
CallSite call_site(const char* api_name);

}  // namespace lockstep::runtime
