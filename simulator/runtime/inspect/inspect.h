// Determines how a program reaches CUDA, and whether the simulated GPU can run it. A program can be
// run if it contains PTX and needs libcudart.so.13, or has the runtime linked statically
// (static_runtime.h).
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
    // A program or library with a runtime linked in (nvcc's default). `static_runtime` determines
    // whether it can be served.
    kStaticRuntime,
    // A shared library with device code that uses the runtime of the program that loads it.
    kLibrary,
  };
  Kind kind = Kind::kNotElf;
  StaticRuntime::Kind static_runtime = StaticRuntime::Kind::kNone;
  std::vector<std::string> needed;  // DT_NEEDED, in order
  std::vector<int> ptx;             // architectures of the PTX inside: 90 for compute_90
  std::vector<int> machine_code;    // architectures of the machine code inside: 90 for sm_90
  // The PTX that would be loaded on the device: the texts of each module, several if relocatable
  // device code is linked.
  std::vector<std::vector<std::string>> modules;
  std::string sentence;  // what the file is and, if it cannot be run, what to change
  // Whether a device of `compute_capability` (90 for 9.0) can be simulated for it, judged without
  // parsing the PTX.
  bool runnable = false;
};

// Never throws for malformed contents: unreadable parts count as absent.
Inspection inspect(std::span<const std::uint8_t> file, int compute_capability);

}  // namespace lockstep::runtime
