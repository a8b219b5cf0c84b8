// What was proved about a launch before its first block started (docs/reference/proof.md), listed
// by PTX instruction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/engine/launch/coverage.h"

namespace lockstep::engine {

// A memory instruction of the kernel, except accesses to parameters. A claim holds for every
// schedule and all data at this launch shape. Whatever is not claimed is checked while the kernel
// runs.
struct CertifiedAccess {
  std::string text;  // "ld.global.f32"
  int ptx_line = 0;
  SourcePlace source;       // line 0: no line information
  std::string_view space;   // "global", "shared"; empty: generic, or several spaces
  std::uint32_t bytes = 0;  // of each thread; 0: not a load, store or atomic
  bool reads = false, writes = false;
  bool known = false;        // the address does not depend on data
  bool in_bounds = false;    // every byte lies in one live allocation, or in one shared variable
  bool aligned = false;      // every address is a multiple of `bytes`
  bool initialised = false;  // it reads, and every byte has been written
  bool apart = false;        // no two threads race through this instruction

  bool proved() const { return in_bounds && aligned && apart && (initialised || !reads); }
};

struct LaunchCertificate {
  check::Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::string refused;  // why nothing was proved about the kernel; empty: it was analysed
  bool calls = false;   // it calls functions, whose accesses are not listed
  std::vector<CertifiedAccess> accesses;  // in the order of the PTX
};

}  // namespace lockstep::engine
