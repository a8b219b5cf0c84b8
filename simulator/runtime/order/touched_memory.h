// Memory that copies, fills, allocations and frees access, kept for the operations that nothing
// orders after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/memory/box.h"
#include "simulator/runtime/order/order.h"

namespace lockstep::runtime {

// What an operation does to memory.
enum class Touch : std::uint8_t { kReads, kWrites, kAllocates, kFrees };
// "reads", "writes" ...
const char* verb(Touch touch);

// Touched::call of an access by the host itself.
inline constexpr const char* kTheHost = "the host";

struct Touched {
  memory::Box box;
  Touch touch = Touch::kReads;
  std::string call;              // the function of the API
  const void* caller = nullptr;  // where the program called it; nullptr: unknown
  engine::StreamName stream;
  Lane lane = 0;
  std::uint32_t sequence = 0;
  // A copy from pageable memory that waits, but not for the bytes to arrive.
  bool staged = false;
  // The host itself. `flag`: by aligned accesses of up to 8 bytes. `polls`: one instruction has
  // accessed the same bytes again.
  bool host = false, flag = false, polls = false;

  // All but reads conflict with every other access.
  bool writes() const { return touch != Touch::kReads; }
  // "cudaMemcpyAsync in stream 5"
  std::string to_string() const { return call + stream.in(); }
};

class TouchedMemory {
 public:
  void add(Touched touched);
  // Forgets what is ordered before everything to come.
  void settle(const Clock& settled);
  // The first that conflicts with an access to `box` by an operation that has `before` before it;
  // nullptr: none.
  const Touched* find(const Clock& before, const memory::Box& box, bool writes) const;
  // All that nothing orders before it.
  std::vector<const Touched*> unordered(const Clock& before) const;
  bool empty() const { return touched_.empty(); }

  // Of more, the oldest are forgotten.
  static constexpr std::size_t kMost = 1024;

 private:
  std::vector<Touched> touched_;  // in the order of the calls
};

}  // namespace lockstep::runtime
