// Shared parts of address resolution: report texts, written-shadow updates, and checks of alignment
// and races.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

// Reports lanes whose address is not a multiple of the access size. Always returns false, for use
// in `return`.
bool report_misaligned(Warp& w, const Request& r, isa::Space space, LaneMask lanes);
// Reports lanes that change memory which nobody has written, once for each place in the program.
// Returns false if a finding ends the launch.
bool report_unwritten_change(Warp& w, const Request& r, isa::Space space, LaneMask lanes);

// Checks the accesses of `lanes` (bounds, alignment, races), notes unwritten bytes and sets r.host.
// Returns false if a finding ends the launch.
bool resolve(Warp& w, Request& r, isa::Space space, LaneMask lanes);

bool resolve_global(Warp& w, Request& r, LaneMask lanes);
bool resolve_shared(Warp& w, Request& r, LaneMask lanes);
bool resolve_local(Warp& w, Request& r, LaneMask lanes);

// Whether `size` bytes from `low` lie in one local variable of a frame on the stack of the running
// split.
bool in_local_variable(const Warp& w, int lane, std::uint64_t low, std::uint32_t size);

// For a lane with unwritten bytes: finds bytes of which some bits are written. Notes them in r.bits
// or, without r.bits, counts them as written. Returns false if no byte is missing any more.
bool refine_missing(Request& r, int lane, const memory::PartlyWritten& partly, std::uint64_t place);
// Notes that a store has left the bytes of r.missing[lane], or some of their bits, unwritten.
void note_partly_written(const Request& r, int lane, memory::PartlyWritten& partly,
                         std::uint64_t place);

// note_missing() and note_written() handle one lane's bytes in the written-shadow, from bit `first`
// on: the bytes that a read misses, and those that a store writes. `place`: of the first byte in
// `partly`.
inline void note_missing(Request& r, int lane, const std::uint8_t* shadow, std::uint64_t first,
                         const memory::PartlyWritten& partly, std::uint64_t place) {
  if (all_written(shadow, first, r.size)) return;
  r.missing[lane] = missing_bytes(shadow, first, r.size);
  if (partly.empty() || refine_missing(r, lane, partly, place)) r.unwritten |= 1u << lane;
}
// As note_missing(), for lanes that unwritten_lanes() has found.
template <class Place>
inline void refine_unwritten(Request& r, LaneMask lanes, const memory::PartlyWritten& partly,
                             Place place) {
  if (lanes == 0 || partly.empty()) return;
  each(lanes, [&](int i) {
    if (!refine_missing(r, i, partly, place(i))) r.unwritten &= ~(1u << i);
  });
}
// Whether note_written() has nothing to do: all `span` bytes from the lowest to the highest are
// written and stay so.
inline bool stays_written(const Request& r, const std::uint8_t* shadow, std::uint64_t low,
                          std::uint64_t span) {
  return r.invalid == 0 && span <= 4096 &&
         all_written(shadow, low, static_cast<std::uint32_t>(span));
}
inline void note_written(const Request& r, int lane, std::uint8_t* shadow, std::uint64_t first,
                         memory::PartlyWritten& partly, std::uint64_t place) {
  if (r.invalid >> lane & 1) {
    set_written_but(shadow, first, r.size, r.missing[lane]);
    if (r.bits != nullptr || !partly.empty()) note_partly_written(r, lane, partly, place);
  } else {
    set_written(shadow, first, r.size);
  }
}

// For Request::same: whether the lane's bytes are already in memory.
bool value_is_there(Warp& w, const Request& r, int lane);

// Reads memory for built-in functions (format strings and their arguments) without a race check.
// Returns nullptr if out of bounds.
const std::byte* peek(Warp& w, int lane, std::uint64_t generic_address, std::uint32_t size);

}  // namespace lockstep::engine
