// The memory that copies, fills, allocations and frees access, kept to compare it with unordered
// later operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simulator/memory/box.h"
#include "simulator/runtime/order/order.h"

namespace lockstep::runtime {

// What an operation does to memory.
enum class Touch : std::uint8_t { kReads, kWrites, kAllocates, kFrees };
// "reads", "writes" ...
const char* verb(Touch touch);

// Touched::call for an access by the host itself.
inline constexpr const char* kTheHost = "the host";

struct Touched {
  memory::Box box;
  Touch touch = Touch::kReads;
  std::string call;              // the function of the API
  const void* caller = nullptr;  // the calling place in the program; nullptr: unknown
  engine::StreamName stream;
  Lane lane = 0;
  std::uint32_t sequence = 0;
  // A copy from pageable memory that waits, but not until the bytes arrive.
  bool staged = false;
  // `host`: an access by the host itself. `flag`: by aligned accesses of up to 8 bytes. `polls`:
  // one instruction has repeated the access.
  bool host = false, flag = false, polls = false;

  // All accesses but reads conflict with every other access.
  bool writes() const { return touch != Touch::kReads; }
  // "cudaMemcpyAsync in stream 5"
  std::string to_string() const { return call + stream.in(); }
};

class TouchedMemory {
 public:
  void add(Touched touched);
  // Forgets accesses that are ordered before all later operations.
  void settle(const Clock& settled);
  // The first access that conflicts with an access to `box` by an operation after `before`, and is
  // unordered with it; nullptr if there is none.
  const Touched* find(const Clock& before, const memory::Box& box, bool writes) const;
  // All accesses that are unordered with an operation after `before`.
  std::vector<const Touched*> unordered(const Clock& before) const;
  bool empty() const { return touched_.empty(); }

  // If there are more, the oldest are forgotten.
  static constexpr std::size_t kMost = 1024;

 private:
  std::deque<Touched> touched_;  // in the order of the calls
};

}  // namespace lockstep::runtime
