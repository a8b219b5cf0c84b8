// What the parts that resolve addresses share: the words of a finding about an access, and the
// checks of alignment and races.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

// The report for lanes whose address is no multiple of the access's size. Always false, for
// `return`.
bool report_misaligned(Warp& w, const Request& r, isa::Space space, LaneMask lanes);
// The report for lanes that change memory which nobody has written, once for each place in the
// program. False: a finding ends the launch.
bool report_unwritten_change(Warp& w, const Request& r, isa::Space space, LaneMask lanes);

// Checks the accesses of `lanes` (bounds, alignment, races; notes unwritten bytes) and finds their
// bytes. False: a finding ends the launch.
bool resolve(Warp& w, Request& r, isa::Space space, LaneMask lanes);

bool resolve_global(Warp& w, Request& r, LaneMask lanes);
bool resolve_shared(Warp& w, Request& r, LaneMask lanes);
bool resolve_local(Warp& w, Request& r, LaneMask lanes);

// Whether `size` bytes from `low` lie in one local variable of a frame that the running split has
// on its stack.
bool in_local_variable(const Warp& w, int lane, std::uint64_t low, std::uint32_t size);

// For a lane with unwritten bytes: finds those that have some bits written, and notes them in
// r.bits, or no longer counts them as missing. False: no byte is missing any more.
bool refine_missing(Request& r, int lane, const memory::PartlyWritten& partly, std::uint64_t place);
// A store has left the bytes of r.missing[lane] unwritten, or some of their bits.
void note_partly_written(const Request& r, int lane, memory::PartlyWritten& partly,
                         std::uint64_t place);

// One lane's bytes in the written-shadow, `first` from its start: what a read misses, what a store
// makes written. `place` is of the first byte in `partly`.
inline void note_missing(Request& r, int lane, const std::uint8_t* shadow, std::uint64_t first,
                         const memory::PartlyWritten& partly, std::uint64_t place) {
  if (all_written(shadow, first, r.size)) return;
  r.missing[lane] = missing_bytes(shadow, first, r.size);
  if (partly.empty() || refine_missing(r, lane, partly, place)) r.unwritten |= 1u << lane;
}
// The same for lanes that unwritten_lanes() has found.
template <class Place>
inline void refine_unwritten(Request& r, LaneMask lanes, const memory::PartlyWritten& partly,
                             Place place) {
  if (lanes == 0 || partly.empty()) return;
  each(lanes, [&](int i) {
    if (!refine_missing(r, i, partly, place(i))) r.unwritten &= ~(1u << i);
  });
}
// Whether there is nothing for note_written() to do: the bytes from the lowest to the highest,
// `span` of them, are written already, and stay so.
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

// For Request::same: whether a lane's bytes are in memory already.
bool value_is_there(Warp& w, const Request& r, int lane);

// Reads for the built-in functions (format strings, their arguments), unchecked for races: nullptr
// when out of bounds.
const std::byte* peek(Warp& w, int lane, std::uint64_t generic_address, std::uint32_t size);

}  // namespace lockstep::engine
