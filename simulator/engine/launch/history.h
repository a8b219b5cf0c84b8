// The order of operations as it is passed to the engine, and the accesses of earlier launches that
// may be unordered with later operations.
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
  // " in stream 5"; empty for kNone, a call outside any stream
  std::string in() const { return kind == Kind::kNone ? "" : " in " + to_string(); }
};

// The place of an operation in the partial order of all operations: number `sequence` of a lane. A
// lane is a stream, or a branch of a graph. Its operations are ordered one after another.
struct OperationPlace {
  std::uint32_t lane = 0, sequence = 0;
  // By lane: the last operation that is ordered before this one, including itself. Missing lanes:
  // none.
  std::span<const std::uint32_t> before;
  // By lane: the last operation that is ordered before every operation to come. Whatever it covers
  // can be forgotten.
  std::span<const std::uint32_t> settled;
  StreamName stream;
  // Operations to come may be unordered with this one and with earlier ones.
  bool several_streams = false;
  // By lane: the last operation that the host has waited for. A launch that reads memory which the
  // host writes may learn of it (check::Hearing).
  std::span<const std::uint32_t> host;
  // For a kernel: its place among the grids that descend from one launch of the host
  // (check/launch_order.h).
  std::uint64_t family = 0;
  std::shared_ptr<const check::Descent> descent;
};

// Advice for a message: how to order two operations in different streams.
inline constexpr const char* kOrderBetweenStreams =
    "cudaStreamWaitEvent for an event recorded behind the first would order the two; so would one "
    "stream for both, or cudaStreamSynchronize in between.";

// Advice for a message: how to order two grids that descend from one launch of the host.
inline constexpr const char* kOrderBetweenGrids =
    "A grid is ordered after what its thread did before the launch. One stream orders two grids of "
    "a block, and cudaStreamWaitEvent two streams; a launch into cudaStreamTailLaunch comes after "
    "all that its grid has done and launched.";

// Advice for a message: how to order an access of the host and an operation.
inline constexpr const char* kOrderBeforeHost =
    "cudaStreamSynchronize in between would order the two; so would cudaEventSynchronize for an "
    "event recorded behind the operation, or cudaDeviceSynchronize.";

// Memory that an operation other than a kernel (a copy, fill, allocation or free) accesses,
// unordered with the launch.
struct ConcurrentAccess {
  memory::Box box;
  bool writes = false;
  std::string by;                // "cudaMemcpyAsync in stream 5"
  const char* verb = "";         // "writes"
  const void* caller = nullptr;  // the calling place in the program
  const char* note = "";         // an additional sentence
  // The operation's place: number `sequence` of a lane. A thread that knows of a launch behind it
  // is ordered after it. 0: no thread can be.
  std::uint32_t lane = 0, sequence = 0;
  // `host`: the access is the host's. `flag`: aligned accesses of up to 8 bytes, so a strong access
  // of the kernel does not race with it.
  bool host = false, flag = false;
};

// An access by a thread of a launch.
struct PastAccess {
  std::string kernel;  // demangled
  StreamName stream;
  check::Access access;
  bool strong = false;
};

// Finds an access of an earlier launch that conflicts with the operation's access to `box`, and
// whose launch is not ordered before the operation at `place`. Two accesses conflict if both access
// a byte and at least one writes. Returns nullopt if there is none. Searches launches on `memory`
// only; none of them may be running.
std::optional<PastAccess> find_unordered_access(memory::DeviceMemory& memory,
                                                const OperationPlace& place, const memory::Box& box,
                                                bool writes);

}  // namespace lockstep::engine
