// Which operations the CUDA API orders: streams, events, default streams, graphs, and calls that
// wait (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"; CUDA Runtime API, "API
// synchronization behavior" and "Stream synchronization behavior").
//
// The simulated GPU executes an operation at some time after it was put into a stream
// (queue/queue.h). Its execution is one of many that the API allows. So two operations are compared
// here by vector clocks, not by the times when they ran.
//
// All host threads count as one: when one of them has waited for an operation, all have. The same
// holds for what they may have learnt by a host function that has run, by a value in host-visible
// memory, or by a successful query. So a race may be missed, but none is invented.
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

// How a stream is ordered with the legacy default stream.
enum class StreamKind : std::uint8_t {
  kLegacy,       // the legacy default stream
  kBlocking,     // waits for the legacy default stream, and vice versa
  kNonBlocking,  // cudaStreamNonBlocking
};

// The state of a stream in the order. It gets its lane when the first operation is put into it.
struct StreamOrder {
  StreamKind kind = StreamKind::kBlocking;
  int device = 0;
  engine::StreamName name;
  std::optional<Lane> lane;
  Clock known;  // covers the stream's operations, and those that they waited for
};

// An operation: its place in its lane, and the operations ordered before it.
struct Operation {
  Lane lane = 0;
  std::uint32_t sequence = 0;
  Clock before;  // covers the operation itself, too
  engine::StreamName stream;
  // A copy from pageable memory whose call has waited, but not until the bytes arrived.
  bool staged = false;
};

// Numbers of a lane that are reserved for later operations (Order::reserve).
struct Reserved {
  Lane lane = 0;
  std::uint32_t following = 1, last = 0;

  // The place of the next operation, which is ordered after `after`. When the numbers are used up,
  // the last one is reused.
  Operation next(const Clock& after, engine::StreamName stream);
};

class Order {
 public:
  // Puts an operation into the stream.
  Operation put(StreamOrder& stream);
  // The operations that an event recorded in the stream now represents.
  Clock recorded(StreamOrder& stream);
  // Makes the stream wait for the operations that an event represents.
  void wait(StreamOrder& stream, const Clock& event);
  // Call when a stream is destroyed. Its operations remain.
  void drop(StreamOrder& stream);

  // The operations that the host waits for when it waits for the stream, for all streams of a
  // device, or for everything.
  Clock waited_for(StreamOrder& stream);
  const Clock& all_of(int device) { return devices_[device].all; }
  Clock all() const;
  // Call when the host has waited for these operations, which have been executed.
  void host_waits_for(const Clock& what);
  // Puts an operation that is ordered after all earlier work of its device and of `other`, and
  // before all later work (cudaMemcpyPeer).
  Operation put_between_devices(StreamOrder& stream, int other);

  // Launches a graph in a stream: call begin_graph(), then step() for each node in order, with the
  // lane of its branch, then end_graph().
  Clock begin_graph(StreamOrder& stream);
  Operation step(std::optional<Lane>& lane, const Clock& after, engine::StreamName stream);
  void end_graph(StreamOrder& stream, const Clock& all_steps);
  // Reserves numbers for operations that are known later. These are ordered by their numbers, so a
  // clock that covers the last one covers them all.
  Reserved reserve(std::optional<Lane>& lane, std::uint32_t count);
  bool has_reserved() const { return has_reserved_; }  // reserve() has been called
  // The lanes of a graph's branches are no longer needed.
  void drop_lane(Lane lane);

  // An access of the host itself to memory: an operation in a lane of its own, ordered before
  // everything that is put later.
  Operation host_access();

  // By lane: its last operation, put or reserved.
  const std::vector<std::uint32_t>& last() const { return last_; }
  // From now on every operation that is put must be ordered after this one. If one is not, the
  // process stops with SIGABRT: for LOCKSTEP_PROOF=compare.
  void expect_all_after(const Operation& at) { expected_.raise(at.lane, at.sequence); }

  // The operations that the host has waited for.
  const Clock& host() const { return host_; }
  // Counts the changes of host().
  std::uint64_t host_waits() const { return host_waits_; }
  // A shared copy of host(). All operations put until the host waits again share it.
  std::shared_ptr<const Clock> host_now();
  // Takes what the host had waited for when it put the first of the unexecuted operations. Every
  // unexecuted operation is ordered after this, and the first one may be ordered after no more.
  // nullptr: there are none.
  void hold(std::shared_ptr<const Clock> held) { held_ = std::move(held); }
  // The operations that are ordered before everything executed from now on.
  const Clock& settled() const { return held_ ? *held_ : host_; }
  // Whether there are, or will be, several lanes: a stream has been created.
  bool several_streams() const { return several_streams_; }
  void note_stream() { several_streams_ = true; }

 private:
  struct Device {
    Clock blocking;  // all operations of blocking streams and of the legacy default stream
    Clock legacy;    // operations of the legacy default stream
    Clock all;       // operations of any stream
    Clock barrier;   // ordered before all later operations of the device
  };
  Lane new_lane();
  Device& reach(StreamOrder& stream);
  void advance(Device& device, const StreamOrder& stream);
  Operation next(std::optional<Lane>& lane, Clock before, engine::StreamName name);

  std::vector<std::uint32_t> last_;  // by lane: its last operation
  Clock expected_;                   // expect_all_after()
  std::vector<Lane> dropped_;        // lanes that get no more operations
  std::map<int, Device> devices_;
  Clock host_;
  std::uint64_t host_waits_ = 0;
  std::optional<Lane> host_lane_;           // of host_access()
  std::uint64_t puts_ = 0, access_at_ = 0;  // operations so far, and by the last host_access()
  std::shared_ptr<const Clock> host_now_, held_;
  bool several_streams_ = false, has_reserved_ = false;
};

}  // namespace lockstep::runtime
