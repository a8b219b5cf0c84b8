// What the parts that resolve addresses share: the words of a finding about an access, and the checks of alignment and races.
#pragma once

#include "simulator/engine/checks/written_bits.h"
#include "simulator/engine/memory/memory_ops.h"
#include "simulator/engine/schedule/block.h"

namespace lockstep::engine {

// A finding about the access of the lowest of `lanes`; the others are counted.
check::Finding access_finding(const Warp& w, const Request& r, isa::Space space, LaneMask lanes, check::Kind kind);

// The report for lanes whose address is no multiple of the access's size. Always false, for `return`.
bool report_misaligned(Warp& w, const Request& r, isa::Space space, LaneMask lanes);
// The report for lanes that change memory which nobody has written, told once a place in the program. False: a finding ends the launch.
bool report_unwritten_change(Warp& w, const Request& r, isa::Space space, LaneMask lanes);

bool resolve_global(Warp& w, Request& r, LaneMask lanes);
bool resolve_shared(Warp& w, Request& r, LaneMask lanes);
bool resolve_local(Warp& w, Request& r, LaneMask lanes);

// Whether `size` bytes from `low` lie in one local variable of a frame that the running split has on its stack.
bool in_local_variable(const Warp& w, int lane, std::uint64_t low, std::uint32_t size);

// One lane's bytes in the written-shadow, `first` from its start: what a read misses, what a store makes written.
inline void note_missing(Request& r, int lane, const std::uint8_t* shadow, std::uint64_t first) {
  if (all_written(shadow, first, r.size)) return;
  r.unwritten |= 1u << lane;
  r.missing[lane] = missing_bytes(shadow, first, r.size);
}
// Whether there is nothing for note_written() to do: the bytes from the lowest to the highest, `span` of them, are written already, and stay so.
inline bool stays_written(const Request& r, const std::uint8_t* shadow, std::uint64_t low, std::uint64_t span) {
  return r.invalid == 0 && span <= 4096 && all_written(shadow, low, static_cast<std::uint32_t>(span));
}
inline void note_written(const Request& r, int lane, std::uint8_t* shadow, std::uint64_t first) {
  if (r.invalid >> lane & 1) {
    set_written_but(shadow, first, r.size, r.missing[lane]);
  } else {
    set_written(shadow, first, r.size);
  }
}

}  // namespace lockstep::engine
