// What processes share of an event (cudaEventInterprocess): how often it was recorded, and how
// often what it stood for had been executed then. The process that records it executes that work
// at once, so the processes need no other message.
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

  // A new one, or that of a file; nullptr, errno set, when the system refuses.
  static std::shared_ptr<SharedEvent> create();
  static std::shared_ptr<SharedEvent> open(int file);

  bool is_executed() const { return counts->executed >= counts->recorded; }

  Counts* counts = nullptr;
  int file = -1;
};

}  // namespace lockstep::runtime
