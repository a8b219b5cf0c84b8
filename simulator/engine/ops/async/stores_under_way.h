// Bulk copies to global memory whose bytes may come at any time until somebody waits for them. Two
// of them come in any order (PTX ISA 9.7.9.25: nothing orders the copies of a bulk async-group), so
// that two that store other bytes to one place race, whichever threads of the block issued them.
//
// The simulated GPU stores the bytes when the copy is issued. Two threads that nothing orders are
// found by the search for races; here are one thread, and threads that a barrier orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/engine/state/async_state.h"

namespace lockstep::engine {

// What a new copy meets: made before its first byte is stored.
class StoresUnderWay {
 public:
  // `combines`: the copy is a reduction; reductions come in any order among themselves.
  StoresUnderWay(Warp& w, std::uint32_t pc, int lane, bool combines);

  // Before the `size` bytes at `address` in global memory become `bytes`, `now` being there; both
  // null: they change in some way. Bytes that stay as they are race with nothing. False: a finding
  // ends the launch.
  bool check(std::uint64_t address, std::uint32_t size, const std::byte* now,
             const std::byte* bytes);

  // The places that were checked.
  Spans places() &&;

 private:
  Warp& w_;
  std::uint32_t pc_;
  int lane_;
  std::vector<const BulkStore*> others_;  // that the copy may race with
  Spans places_;
};

}  // namespace lockstep::engine
