// Redirects the entry points of a CUDA runtime that is linked into a program or library to the
// simulated runtime: the first bytes of each entry point are overwritten by a jump to the simulated
// function of the same name.
//
// Entry points that the simulated runtime lacks (of a newer CUDA) are redirected to a refusal that
// names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::exec {

// The simulated runtime as loaded in this process.
struct SimulatedRuntime {
  std::span<const std::uint8_t> file;  // libcudart.so.13
  std::uint64_t bias = 0;              // the load offset of its addresses
};

struct Redirected {
  std::size_t led = 0, refused = 0;  // numbers of entry points
  const char* error = nullptr;       // the reason if something failed
};

// Overwrites the entry points of `own`, an object loaded with offset `bias`. None of its code may
// have run yet.
Redirected redirect(const runtime::StaticRuntime& own, std::uint64_t bias,
                    const SimulatedRuntime& simulated);

// Redirects NVRTC's nvrtcGetCUBIN and nvrtcGetCUBINSize to nvrtcGetPTX and nvrtcGetPTXSize. NVRTC
// has the PTX of code compiled for a real architecture, too, and all functions that load code
// accept PTX. `file` is libnvrtc.so, loaded with offset `bias`. Returns the reason if this fails,
// for example if the library does not export these names; nullptr otherwise.
const char* give_ptx_for_cubins(std::span<const std::uint8_t> file, std::uint64_t bias);

}  // namespace lockstep::exec
