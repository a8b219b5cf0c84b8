// Detects races between bulk copies to global memory. Until a thread waits for such a copy, its
// bytes may arrive at any time, and two copies may arrive in any order (PTX ISA 9.7.9.25: nothing
// orders the copies of a bulk async-group). So two copies that store different bytes to one place
// race, whichever threads of the block issued them.
//
// The simulator stores the bytes when the copy is issued. The search for races finds copies of two
// unordered threads. This file handles copies of one thread, and of threads that a barrier orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/engine/state/async_state.h"

namespace lockstep::engine {

// The unfinished copies that a new copy may race with. Construct it before the first byte is
// stored.
class StoresUnderWay {
 public:
  // `combines`: the copy is a reduction. Reductions do not race with each other.
  StoresUnderWay(Warp& w, std::uint32_t pc, int lane, bool combines);

  // Call before the `size` bytes at `address` in global memory change from `now` to `bytes`; both
  // nullptr: to an unknown value. Bytes that keep their value race with nothing. Returns false if a
  // finding ends the launch.
  bool check(std::uint64_t address, std::uint32_t size, const std::byte* now,
             const std::byte* bytes);

  // The places that were checked.
  Spans places() &&;

 private:
  Warp& w_;
  std::uint32_t pc_;
  int lane_;
  std::vector<const BulkStore*> others_;  // the copies that it may race with
  Spans places_;
};

}  // namespace lockstep::engine
