// Streams and events: their attributes, and their part in the order of operations
// (order/order.h). What a stream has to do stands in the queue (queue/queue.h).
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
  std::shared_ptr<Capture> capture;                            // while it is being captured
  std::vector<GraphNode*> tail;                                // then: what its next node waits for
  std::vector<cudaGraphEdgeData> tail_edges;                   // as was last asked for: all zero
  std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes;  // as set

  StreamOrder order;

  bool is_legacy() const { return id == kLegacyId; }
};

// When an event was recorded; nullopt while the operation has not been executed.
using Moment = std::optional<std::chrono::steady_clock::time_point>;

struct SharedEvent;  // shared_event.h

struct Event {
  unsigned flags = cudaEventDefault;
  int device = 0;
  std::shared_ptr<Moment> recorded;  // when it was last put into a stream; nullptr: never
  std::optional<Clock> stands_for;   // when it was last recorded in a stream that was not captured
  std::shared_ptr<Capture> capture;  // when it was last recorded in a stream that was captured
  std::vector<GraphNode*> tail;      // then: what it stands for
  std::shared_ptr<SharedEvent> shared;  // of cudaEventInterprocess
  std::uint32_t measured_early = 0;     // calls of cudaEventElapsedTime that it was not ready for
};

class Streams {
 public:
  cudaStream_t create_stream(unsigned flags, int priority, int device);
  bool destroy_stream(cudaStream_t stream, Order& order);
  std::vector<Stream*> of_device(int device);
  // The stream, a default one (of `device`) for the handles 0, 1 and 2 (0: the thread's own where
  // per_thread_stream.h says so); nullptr when the handle is
  // unknown or destroyed.
  Stream* find_stream(cudaStream_t stream, int device);
  // Another stream that the program has created, of the same device and capture: the next by its
  // id, or the first; nullptr: there is none, or this one is a default stream.
  cudaStream_t other_than(cudaStream_t stream) const;

  cudaEvent_t create_event(unsigned flags, int device);
  bool destroy_event(cudaEvent_t event);
  Event* find_event(cudaEvent_t event);

  void destroy_all(int device);

 private:
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  std::map<std::pair<int, std::thread::id>, Stream>
      defaults_;                // by device and thread; of no thread: the legacy one
  unsigned long long ids_ = 2;  // 1 and 2 are the default streams'
};

}  // namespace lockstep::runtime
