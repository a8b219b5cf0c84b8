// Names the allocation when host code touches device memory, or managed memory after it was freed,
// before the process dies of it.
#pragma once

#include "simulator/check/finding.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

// Installs a handler for SIGSEGV in front of the one that is there. A fault in `memory`'s window is
// reported as a host-access finding on stderr, and to `also` unless that is nullptr, and then goes
// its way, to the former handler or the process's end; other faults go there at once. `memory` must
// live for ever.
void watch_host_access(const memory::DeviceMemory* memory,
                       void (*also)(const check::Finding&) = nullptr);

// The report, for tests: what was touched at `address`, as one finding.
check::Finding describe_host_access(const memory::DeviceMemory& memory, memory::Address address,
                                    bool is_write);

}  // namespace lockstep::runtime
