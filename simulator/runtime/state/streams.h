// Streams and events: their attributes, and their state in the order of operations (order/order.h).
// The operations of a stream are in the queue (queue/queue.h).
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/runtime/order/order.h"

namespace lockstep::runtime {

struct Capture;    // capture.h
struct GraphNode;  // graph.h

struct Stream {
  static constexpr unsigned long long kLegacyId = 1, kPerThreadId = 2;

  unsigned flags = cudaStreamDefault;
  int priority = 0;
  int device = 0;
  unsigned long long id = 0;
  std::shared_ptr<Capture> capture;           // while it is being captured
  std::vector<GraphNode*> tail;               // during a capture: the dependencies of its next node
  std::vector<cudaGraphEdgeData> tail_edges;  // as last queried: all zero
  std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes;  // as set

  StreamOrder order;

  bool is_legacy() const { return id == kLegacyId; }
};

// When an event was recorded; nullopt until the operation has been executed.
using Moment = std::optional<std::chrono::steady_clock::time_point>;

struct SharedEvent;  // shared_event.h

struct Event {
  unsigned flags = cudaEventDefault;
  int device = 0;
  std::shared_ptr<Moment> recorded;  // the last time it was put into a stream; nullptr: never
  std::optional<Clock>
      stands_for;  // what it represents, if last recorded in a stream that was not captured
  std::shared_ptr<Capture> capture;     // if last recorded in a captured stream
  std::vector<GraphNode*> tail;         // during a capture: the nodes it represents
  std::shared_ptr<SharedEvent> shared;  // for cudaEventInterprocess
  std::uint32_t measured_early = 0;     // calls of cudaEventElapsedTime before it was complete
};

class Streams {
 public:
  cudaStream_t create_stream(unsigned flags, int priority, int device);
  bool destroy_stream(cudaStream_t stream, Order& order);
  std::vector<Stream*> of_device(int device);
  // The stream of a handle. Handles 0, 1 and 2 are default streams of `device`; 0 is the thread's
  // own stream if per_thread_stream.h says so. Returns nullptr if the handle is unknown or
  // destroyed.
  Stream* find_stream(cudaStream_t stream, int device);
  // Another stream that the program has created, of the same device and capture: the next one by
  // id, or the first. nullptr if there is none, or if `stream` is a default stream.
  cudaStream_t other_than(cudaStream_t stream) const;

  cudaEvent_t create_event(unsigned flags, int device);
  bool destroy_event(cudaEvent_t event);
  Event* find_event(cudaEvent_t event);

  void destroy_all(int device);

 private:
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  std::map<std::pair<int, std::thread::id>, Stream>
      defaults_;                // by device and thread; without a thread: the legacy stream
  unsigned long long ids_ = 2;  // 1 and 2 are default streams
};

}  // namespace lockstep::runtime
