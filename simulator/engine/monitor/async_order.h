// What a block's asynchronous copies and mbarrier objects forbid: accesses to bytes that are on
// their way, and to objects as if they were ordinary memory.
#pragma once

#include <string>

#include "simulator/check/finding.h"
#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {

inline constexpr std::uint32_t kObjectBytes = 8;  // of an mbarrier object (PTX ISA 9.7.13.15.1)

// Whether bytes that count as unwritten are on their way or belong to an mbarrier object. False:
// they were, and a finding says so.
bool check_not_under_way(Warp& w, const Request& r, Block& target, LaneMask lanes);
// Whether copies are really on their way: only then is there a mark that loads look at.
bool follows_copies(const Launch& launch);

// The offset of the object that a lane parked by try_wait waits for.
std::uint32_t awaited_offset(const Block& b, const Warp& w, const WarpSplit& f, int lane);

// A finding about the mbarrier object at a place: "the mbarrier 16 bytes into 'bar' <what>".
// `other`: where the object was initialised.
//
// After misuse() hardware has no use for the object any more: the launch ends.
void misuse(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, const std::string& what,
            const std::string& detail = {}, const Issue* other = nullptr);
// Hardware goes on, as if nothing had been there. False: the launch ends.
bool survives_misuse(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                     const std::string& what, const std::string& detail = {},
                     const Issue* other = nullptr);

// "the mbarrier 16 bytes into 'bar' waits for 3 of 4 arrivals and 512 bytes": `verb` is " waits".
std::string awaited_mbarrier(const Block& b, const Warp& w, const WarpSplit& f, const char* verb);
// The same with " that never come".
std::string describe_mbarrier_wait(const Block& b, const Warp& w, const WarpSplit& f);

}  // namespace lockstep::engine
