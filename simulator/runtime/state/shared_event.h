// The state of an interprocess event (cudaEventInterprocess) that processes share: how often it was
// recorded, and how many of the recorded operations have been executed. The process that records it
// executes them at once, so the processes need no other communication.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lockstep::runtime {

struct SharedEvent {
  struct Counts {
    std::atomic<std::uint32_t> recorded, executed;
  };

  SharedEvent() = default;
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;
  ~SharedEvent();

  // A new state, or that of a file. Returns nullptr with errno set if the system refuses.
  static std::shared_ptr<SharedEvent> create();
  static std::shared_ptr<SharedEvent> open(int file);

  bool is_executed() const { return counts->executed >= counts->recorded; }

  Counts* counts = nullptr;
  int file = -1;
};

}  // namespace lockstep::runtime
