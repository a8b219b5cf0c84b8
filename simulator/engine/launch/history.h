// What the engine is given of the order of operations, and what it remembers of launches for those
// that nothing orders after them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/check/descent.h"
#include "simulator/check/finding.h"
#include "simulator/memory/box.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

// A stream in a message.
struct StreamName {
  enum class Kind : std::uint8_t { kLegacy, kPerThread, kCreated, kNone };
  Kind kind = Kind::kLegacy;
  unsigned long long id = 0;  // as cudaStreamGetId returns it
  bool graph = false;         // a node of a graph that is launched there
  std::string to_string() const;
  // " in stream 5"; empty for kNone, a call that is of no stream.
  std::string in() const { return kind == Kind::kNone ? "" : " in " + to_string(); }
};

// The place of an operation in the partial order of all operations: the `sequence`-th of a lane
// (a stream, or a branch of a graph), whose operations are ordered one after another.
struct OperationPlace {
  std::uint32_t lane = 0, sequence = 0;
  // By lane: the last operation that is ordered before this one; itself, too. Lanes that are
  // missing: none.
  std::span<const std::uint32_t> before;
  // The same of every operation to come: what is covered can be forgotten.
  std::span<const std::uint32_t> settled;
  StreamName stream;
  // Operations to come may be unordered with this one and with earlier ones.
  bool several_streams = false;
  // What the host has waited for. A launch that reads memory which the host writes may learn of it
  // (check::Hearing).
  std::span<const std::uint32_t> host;
  // Of a kernel: which grid it is of those that descend from one launch of the host
  // (check/launch_order.h).
  std::uint64_t family = 0;
  std::shared_ptr<const check::Descent> descent;
};

// How two operations in different streams can be ordered.
inline constexpr const char* kOrderBetweenStreams =
    "cudaStreamWaitEvent for an event recorded behind the first would order the two; so would one "
    "stream for both, or cudaStreamSynchronize in between.";

// The same of two grids that descend from one launch of the host.
inline constexpr const char* kOrderBetweenGrids =
    "A grid is ordered after what its thread did before the launch. One stream orders two grids of "
    "a block, and cudaStreamWaitEvent two streams; a launch into cudaStreamTailLaunch comes after "
    "all that its grid has done and launched.";

// How an access of the host and an operation can be ordered.
inline constexpr const char* kOrderBeforeHost =
    "cudaStreamSynchronize in between would order the two; so would cudaEventSynchronize for an "
    "event recorded behind the operation, or cudaDeviceSynchronize.";

// Memory that an operation other than a kernel (a copy, a fill, an allocation, a free) accesses,
// and that nothing orders before the launch.
struct ConcurrentAccess {
  memory::Box box;
  bool writes = false;
  std::string by;                // "cudaMemcpyAsync in stream 5"
  const char* verb = "";         // "writes"
  const void* caller = nullptr;  // where the program called it
  const char* note = "";         // a sentence about it
  // The operation is the `sequence`-th of a lane: threads that know of a launch behind it are
  // ordered after it. 0: none is.
  std::uint32_t lane = 0, sequence = 0;
  // By the host. `flag`: aligned accesses of up to 8 bytes, so that a strong access of the kernel
  // does not race with it.
  bool host = false, flag = false;
};

// An access by a thread of a launch.
struct PastAccess {
  std::string kernel;  // demangled
  StreamName stream;
  check::Access access;
  bool strong = false;
};

// The access by a launch that is not ordered before the operation at `place`, and that conflicts
// with the operation's access to `box`: both access the same byte, and at least one writes.
// nullopt: there is none. Launches on `memory` alone are looked at; none may run.
std::optional<PastAccess> find_unordered_access(memory::DeviceMemory& memory,
                                                const OperationPlace& place, const memory::Box& box,
                                                bool writes);

}  // namespace lockstep::engine
