// The order of the grids that one grid launches, by the streams and events of its threads (CUDA C++
// Programming Guide, "CUDA Dynamic Parallelism", "Streams" and "Events").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/check/descent.h"

namespace lockstep::engine {

// driver_types.h: cudaStreamTailLaunch and cudaStreamFireAndForget.
inline constexpr std::uint64_t kTailLaunch = 3, kFireAndForget = 4;

class DeviceOrder {
 public:
  // Call when a thread of `block` launches a grid into `stream`. Returns the grid's place in the
  // order.
  std::shared_ptr<check::Descent> launch(std::uint64_t block, std::uint64_t stream,
                                         const std::shared_ptr<const check::Descent>& parent) {
    auto made = std::make_shared<check::Descent>();
    made->parent = parent;
    made->depth = parent == nullptr ? 1 : parent->depth + 1;
    made->tail = stream == kTailLaunch;
    made->after_all = made->tail && (parent == nullptr || parent->after_all);
    if (made->tail || stream == kFireAndForget) return made;
    Stream& s = stream_of(block, stream);
    made->lane = s.lane;
    made->sequence = ++s.last;
    made->waited = s.waited;
    return made;
  }
  void record(std::uint64_t block, std::uint64_t event, std::uint64_t stream) {
    const Stream& s = stream_of(block, stream);
    Clock clock = s.waited;
    if (s.last != 0) clock.emplace_back(s.lane, s.last);
    events_[event] = {block, std::move(clock)};
  }
  // An event that was never recorded orders nothing.
  void wait(std::uint64_t block, std::uint64_t stream, std::uint64_t event) {
    const auto it = events_.find(event);
    if (it == events_.end()) return;
    crosses_blocks_ |= it->second.block != block;
    Clock& waited = stream_of(block, stream).waited;
    for (const auto& [lane, sequence] : it->second.clock) join(waited, lane, sequence);
  }
  // Whether an event orders launches of two blocks. Then launches must be executed in the order in
  // which they were made.
  bool crosses_blocks() const { return crosses_blocks_; }

 private:
  using Clock =
      std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // lanes, and the last sequence of each
  struct Stream {
    std::uint32_t lane = 0, last = 0;
    Clock waited;
  };
  struct Event {
    std::uint64_t block = 0;
    Clock clock;
  };
  // Each block has a default stream of its own.
  Stream& stream_of(std::uint64_t block, std::uint64_t stream) {
    const auto [it, fresh] = streams_.try_emplace({stream == 0 ? block : 0, stream});
    if (fresh) it->second.lane = static_cast<std::uint32_t>(streams_.size() - 1);
    return it->second;
  }
  static void join(Clock& clock, std::uint32_t lane, std::uint32_t sequence) {
    for (auto& [of, last] : clock) {
      if (of != lane) continue;
      last = last < sequence ? sequence : last;
      return;
    }
    clock.emplace_back(lane, sequence);
  }

  std::map<std::pair<std::uint64_t, std::uint64_t>, Stream> streams_;  // block or 0, handle
  std::map<std::uint64_t, Event> events_;
  bool crosses_blocks_ = false;
};

}  // namespace lockstep::engine
