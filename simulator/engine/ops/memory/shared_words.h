// The addresses of accesses of four bytes a lane to shared memory.
#pragma once

#include <bit>
#include <cstdint>

#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

// Stores the address of each lane's four bytes in `at`, an inactive lane's as that of an active
// lane. Returns the number of bytes from the lowest to the end of the highest. Returns 0 if an
// address is misaligned, if the bytes are not of one shared variable, if they span more than 8 KiB,
// or if one of the span was never written and that is checked.
inline std::uint32_t shared_words(Warp& w, const Op& op, LaneMask mask,
                                  std::uint32_t (&at)[kWarpSize]) {
  Block& b = *w.block;
  const std::uint32_t* a = source<std::uint32_t>(w, op.src[0]);
  const auto offset = static_cast<std::uint32_t>(op.immediate);
  for (int i = 0; i < kWarpSize; ++i) at[i] = a[i] + offset;
  if (mask != kAllLanes) {
    const std::uint32_t somewhere = at[std::countr_zero(mask)];
    for (int i = 0; i < kWarpSize; ++i) at[i] = mask >> i & 1 ? at[i] : somewhere;
  }
  const auto [low, high, bits] = extent(at);
  const std::uint32_t span = high - low + 4;
  if ((bits & 3) != 0 || span > 8192 ||
      shared_range(*b.launch, low, std::uint64_t{high} + 4) == nullptr)
    return 0;
  if (b.launch->check_initialisation &&
      !all_written(reinterpret_cast<const std::uint8_t*>(b.shared.written.get()), low, span))
    return 0;
  return span;
}

}  // namespace lockstep::engine
