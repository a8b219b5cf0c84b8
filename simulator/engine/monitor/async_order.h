// Reports accesses that a block's asynchronous copies and mbarrier objects forbid: to bytes of an
// unfinished copy, and to mbarrier objects as if they were ordinary memory.
#pragma once

#include <string>

#include "simulator/check/finding.h"
#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {

inline constexpr std::uint32_t kObjectBytes = 8;  // of an mbarrier object (PTX ISA 9.7.13.15.1)

// Checks whether bytes that count as unwritten belong to an unfinished copy or to an mbarrier
// object. Returns false if they do, after a finding.
bool check_not_under_way(Warp& w, const Request& r, Block& target, LaneMask lanes);
// Whether unfinished copies are marked in this launch. Loads check for marks only then.
bool follows_copies(const Launch& launch);

// The offset of the object that a lane parked by try_wait waits for.
std::uint32_t awaited_offset(const Block& b, const Warp& w, const WarpSplit& f, int lane);

// A finding about the mbarrier object at a place: "the mbarrier 16 bytes into 'bar' <what>".
// `other`: where the object was initialised.
//
// misuse() ends the launch: hardware could not use the object any more.
void misuse(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, const std::string& what,
            const std::string& detail = {}, const Issue* other = nullptr);
// A misuse after which hardware continues as if nothing had happened. Returns false if the launch
// ends.
bool survives_misuse(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                     const std::string& what, const std::string& detail = {},
                     const Issue* other = nullptr);

// "the mbarrier 16 bytes into 'bar' waits for 3 of 4 arrivals and 512 bytes": `verb` is " waits".
std::string awaited_mbarrier(const Block& b, const Warp& w, const WarpSplit& f, const char* verb);
// As awaited_mbarrier(), with " that never come".
std::string describe_mbarrier_wait(const Block& b, const Warp& w, const WarpSplit& f);

}  // namespace lockstep::engine
