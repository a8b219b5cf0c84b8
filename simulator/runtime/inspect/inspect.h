// Says how a program reaches CUDA, and so whether the simulated GPU can run it: one that needs
// libcudart.so.13, or has it linked statically with its symbols still there (static_runtime.h), and
// PTX inside.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::runtime {

struct Inspection {
  enum class Kind {
    kNotElf,         // not a 64-bit little-endian ELF file
    kNoDeviceCode,   // an ELF file without device code
    kSharedRuntime,  // needs libcudart.so.13: can be served
    kOtherRuntime,   // needs another version of libcudart
    // A program or library with a runtime linked in (nvcc's default): `static_runtime` says whether
    // it can be served.
    kStaticRuntime,
    // A shared library with device code that leaves the runtime to the program that loads it.
    kLibrary,
  };
  Kind kind = Kind::kNotElf;
  StaticRuntime::Kind static_runtime = StaticRuntime::Kind::kNone;
  std::vector<std::string> needed;  // DT_NEEDED, in order
  std::vector<int> ptx;             // architectures of the PTX inside: 90 for compute_90
  std::vector<int> machine_code;    // architectures of the machine code inside: 90 for sm_90
  // The PTX that the device would be given: of each module its texts, several where relocatable
  // device code is linked.
  std::vector<std::vector<std::string>> modules;
  std::string sentence;  // what it is and, where the simulated GPU cannot run it, what to change
  // Whether a device of `compute_capability` (90 for 9.0) can be simulated for it, judged without
  // reading the PTX.
  bool runnable = false;
};

// Never throws for malformed contents: what cannot be read counts as absent.
Inspection inspect(std::span<const std::uint8_t> file, int compute_capability);

}  // namespace lockstep::runtime
