// Which operations the CUDA API orders: streams, events, default streams, graphs, and calls that
// wait (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"; CUDA Runtime API, "API
// synchronization behavior" and "Stream synchronization behavior").
//
// The simulated GPU executes an operation at some time after it was put into a stream
// (queue/queue.h). What it executed is one of many executions that the API allows, so two
// operations are compared here, by vector clocks, and not by when they ran.
//
// All host threads count as one: what one of them has waited for, each of them has. The same holds
// of what they may have learnt by a host function that has run, by a value in memory that the host
// sees, or by a query that succeeded. So order is missed rather than made up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/engine/launch/history.h"
#include "simulator/runtime/order/clock.h"

namespace lockstep::runtime {

// How a stream takes part in the order of the legacy default stream.
enum class StreamKind : std::uint8_t {
  kLegacy,       // the legacy default stream
  kBlocking,     // waits for it, and it waits for them
  kNonBlocking,  // cudaStreamNonBlocking
};

// What a stream needs for it. The lane is taken when something is first put into the stream.
struct StreamOrder {
  StreamKind kind = StreamKind::kBlocking;
  int device = 0;
  engine::StreamName name;
  std::optional<Lane> lane;
  Clock known;  // covers what the stream had, and what that waited for
};

// One operation: its place in its lane, and what is ordered before it.
struct Operation {
  Lane lane = 0;
  std::uint32_t sequence = 0;
  Clock before;  // covers the operation itself, too
  engine::StreamName stream;
  // A copy from pageable memory whose call has waited, but not for the bytes to arrive.
  bool staged = false;
};

// Numbers of a lane that are given to operations later (Order::reserve).
struct Reserved {
  Lane lane = 0;
  std::uint32_t following = 1, last = 0;

  // The place of the next operation, which comes after `after`. The last number is given again.
  Operation next(const Clock& after, engine::StreamName stream);
};

class Order {
 public:
  // Something is put into the stream.
  Operation put(StreamOrder& stream);
  // What an event that is recorded in the stream now stands for.
  Clock recorded(StreamOrder& stream);
  // The stream waits for what an event stood for.
  void wait(StreamOrder& stream, const Clock& event);
  // A stream is destroyed; its operations go on.
  void drop(StreamOrder& stream);

  // What a wait of the host for the stream waits for, or one for all streams of a device, or for
  // everything.
  Clock waited_for(StreamOrder& stream);
  const Clock& all_of(int device) { return devices_[device].all; }
  Clock all() const;
  // The host has waited for this, and it has been executed.
  void host_waits_for(const Clock& what);
  // An operation that is ordered after all that its device, and `other`, had, and before all that
  // they get (cudaMemcpyPeer).
  Operation put_between_devices(StreamOrder& stream, int other);

  // A graph is launched in a stream: begin_graph(), a step() for each of its nodes in their order
  // with the lane of its branch, and end_graph().
  Clock begin_graph(StreamOrder& stream);
  Operation step(std::optional<Lane>& lane, const Clock& after, engine::StreamName stream);
  void end_graph(StreamOrder& stream, const Clock& all_steps);
  // Numbers for operations that are known later. These come after one another in the order of the
  // numbers, so that what covers the last covers them all.
  Reserved reserve(std::optional<Lane>& lane, std::uint32_t count);
  // The lanes of a graph's branches are no longer needed.
  void drop_lane(Lane lane);

  // The host itself accesses memory: an operation of a lane of its own, before all that is put from
  // now on.
  Operation host_access();

  // What the host has waited for.
  const Clock& host() const { return host_; }
  // Counts its changes.
  std::uint64_t host_waits() const { return host_waits_; }
  // The same, to keep: all that is put until the host waits again shares it.
  std::shared_ptr<const Clock> host_now();
  // Operations that have not been executed come after no more than this: what the host had waited
  // for when the first of them was put. nullptr: there are none.
  void hold(std::shared_ptr<const Clock> held) { held_ = std::move(held); }
  // What is ordered before everything that is executed from now on.
  const Clock& settled() const { return held_ ? *held_ : host_; }
  // Whether there are several lanes, or will be: a stream has been created.
  bool several_streams() const { return several_streams_; }
  void note_stream() { several_streams_ = true; }

 private:
  struct Device {
    Clock blocking;  // all that blocking streams and the legacy default stream had
    Clock legacy;    // what the legacy default stream had
    Clock all;       // what any stream had
    Clock barrier;   // before whatever the device gets
  };
  Lane new_lane();
  Device& reach(StreamOrder& stream);
  void advance(Device& device, const StreamOrder& stream);
  Operation next(std::optional<Lane>& lane, Clock before, engine::StreamName name);

  std::vector<std::uint32_t> last_;  // by lane: its last operation
  std::vector<Lane> dropped_;        // lanes that nothing more is put into
  std::map<int, Device> devices_;
  Clock host_;
  std::uint64_t host_waits_ = 0;
  std::optional<Lane> host_lane_;           // of host_access()
  std::uint64_t puts_ = 0, access_at_ = 0;  // operations so far, and by the last host_access()
  std::shared_ptr<const Clock> host_now_, held_;
  bool several_streams_ = false;
};

}  // namespace lockstep::runtime
