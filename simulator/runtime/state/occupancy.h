// The number of blocks of a kernel that fit on a multiprocessor at once.
#pragma once

#include <cstddef>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/profile.h"

namespace lockstep::runtime {

// The minimum of what threads, blocks, registers and shared memory allow (CUDA C++ Programming
// Guide, "Hardware Multithreading"). The register count is an estimate, since PTX is not machine
// code. 0 if the block does not fit at all. `dynamic_limit`: the most dynamic shared memory that
// the kernel may have (launcher.h). Launch bounds do not count, as on hardware.
int blocks_per_multiprocessor(const Profile& profile, const engine::Kernel& kernel, int threads,
                              std::size_t dynamic_shared, std::size_t dynamic_limit);

}  // namespace lockstep::runtime
