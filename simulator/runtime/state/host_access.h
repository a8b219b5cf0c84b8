// Names the allocation when host code touches device memory, or managed memory after it was freed,
// before the process dies of it.
#pragma once

#include "simulator/check/finding.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

// Installs a handler for SIGSEGV in front of the present one. It reports a fault in `memory`'s
// window as a host-access finding on stderr, and to `also` unless that is nullptr. Then the former
// handler runs, or the process ends. Other faults go there at once. `memory` must live for ever.
void watch_host_access(const memory::DeviceMemory* memory,
                       void (*also)(const check::Finding&) = nullptr);

// The report, for tests: what was touched at `address`, as one finding.
check::Finding describe_host_access(const memory::DeviceMemory& memory, memory::Address address,
                                    bool is_write);

}  // namespace lockstep::runtime
