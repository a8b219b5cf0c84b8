// What was proved of a launch before its first block began (docs/reference/proof.md), by the
// instructions of the PTX.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/engine/launch/coverage.h"

namespace lockstep::engine {

// An instruction of the kernel that loads, stores, or touches memory in another way; parameters
// apart. A claim holds for every schedule and all data at this shape. What is not claimed is
// checked while the kernel runs.
struct CertifiedAccess {
  std::string text;  // "ld.global.f32"
  int ptx_line = 0;
  SourcePlace source;       // line 0: no line information
  std::string_view space;   // "global", "shared"; empty: generic, or several
  std::uint32_t bytes = 0;  // of a thread; 0: it is no load, store or atomic
  bool reads = false, writes = false;
  bool known = false;        // the address does not depend on data
  bool in_bounds = false;    // every byte lies in one live allocation, or in one shared variable
  bool aligned = false;      // every address is a multiple of `bytes`
  bool initialised = false;  // it reads, and every byte has been written
  bool apart = false;        // no two threads race by it

  bool proved() const { return in_bounds && aligned && apart && (initialised || !reads); }
};

struct LaunchCertificate {
  check::Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::string refused;  // why nothing is proved of the kernel; empty: it was looked at
  bool calls = false;   // it calls functions, whose accesses are not listed
  std::vector<CertifiedAccess> accesses;  // in the order of the PTX
};

}  // namespace lockstep::engine
