// How many blocks of a kernel fit on a multiprocessor at once.
#pragma once

#include <cstddef>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/profile.h"

namespace lockstep::runtime {

// The least of what threads, blocks, registers and shared memory allow (CUDA C++ Programming Guide,
// "Hardware Multithreading"). Registers are an estimate: PTX is not machine code. 0 when the block
// does not fit at all. `dynamic_limit` is the most dynamic shared memory the kernel may have
// (launcher.h); launch bounds do not count, as on hardware.
int blocks_per_multiprocessor(const Profile& profile, const engine::Kernel& kernel, int threads,
                              std::size_t dynamic_shared, std::size_t dynamic_limit);

}  // namespace lockstep::runtime
