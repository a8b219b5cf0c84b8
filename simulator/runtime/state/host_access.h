// Reports the allocation when host code accesses device memory, or managed memory that was freed,
// before the process is killed.
#pragma once

#include "simulator/check/finding.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

// Installs a handler for SIGSEGV before the present one. It reports a fault in `memory`'s window as
// a host-access finding on stderr, and to `also` unless that is nullptr. Then the former handler
// runs, or the process ends. Other faults are passed to the former handler directly. `memory` must
// live until the process ends.
void watch_host_access(const memory::DeviceMemory* memory,
                       void (*also)(const check::Finding&) = nullptr);

// The finding for an access at `address`, for tests.
check::Finding describe_host_access(const memory::DeviceMemory& memory, memory::Address address,
                                    bool is_write);

}  // namespace lockstep::runtime
