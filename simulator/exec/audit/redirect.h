// Redirects the entry points of a CUDA runtime that is linked into a program or library: writes a
// jump to the simulated function of the same name over the first bytes of each.
//
// Entry points of a newer CUDA, which the simulated runtime lacks, are redirected to a refusal that
// names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::exec {

// The simulated runtime as it is loaded in this process.
struct SimulatedRuntime {
  std::span<const std::uint8_t> file;  // libcudart.so.13
  std::uint64_t bias = 0;              // what the loader adds to its addresses
};

struct Redirected {
  std::size_t led = 0, refused = 0;  // numbers of entry points
  const char* error = nullptr;       // the step that failed, or nullptr
};

// Overwrites the entry points of `own`, which is loaded `bias` bytes from its addresses. Call
// before any of its code runs.
Redirected redirect(const runtime::StaticRuntime& own, std::uint64_t bias,
                    const SimulatedRuntime& simulated);

// Redirects NVRTC's nvrtcGetCUBIN and nvrtcGetCUBINSize to nvrtcGetPTX and nvrtcGetPTXSize. NVRTC
// keeps the PTX even if it compiles for a real architecture, and all functions that load code
// accept PTX. `file` is libnvrtc.so, loaded `bias` bytes from its addresses. Returns the step that
// failed, or nullptr; nullptr also if the library does not export these names.
const char* give_ptx_for_cubins(std::span<const std::uint8_t> file, std::uint64_t bias);

}  // namespace lockstep::exec
