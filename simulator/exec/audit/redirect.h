// Leads the entry points of a CUDA runtime that is linked into a program or library to the
// simulated one: over the first bytes of each a jump is written to the simulated function of the
// same name.
//
// Entry points that the simulated runtime does not have, of a CUDA newer than it, are led to a
// refusal that names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::exec {

// The simulated runtime, as it lies in this process.
struct SimulatedRuntime {
  std::span<const std::uint8_t> file;  // libcudart.so.13
  std::uint64_t bias = 0;              // what the loader adds to its addresses
};

struct Redirected {
  std::size_t led = 0, refused = 0;  // entry points
  const char* error = nullptr;       // what could not be done, if something could not
};

// Writes over the entry points of `own`, an object that the loader has put `bias` away from its
// addresses. None of its code has run yet.
Redirected redirect(const runtime::StaticRuntime& own, std::uint64_t bias,
                    const SimulatedRuntime& simulated);

// Leads NVRTC's nvrtcGetCUBIN and nvrtcGetCUBINSize to nvrtcGetPTX and nvrtcGetPTXSize: NVRTC has
// the PTX of what it compiles for a real architecture, too, and all loaders of code take PTX.
// `file` is libnvrtc.so, which lies `bias` away from its addresses. Returns what could not be done,
// or nullptr; also where the library does not export these names.
const char* give_ptx_for_cubins(std::span<const std::uint8_t> file, std::uint64_t bias);

}  // namespace lockstep::exec
