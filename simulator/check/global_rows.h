// The fast way into the search for races: the accesses of many lanes of one instruction, judged and
// recorded at once where one lane's are like another's. What GlobalRaces::access() says of each
// lane is what a row says of all.
#pragma once

#include <cstdint>

#include "simulator/check/global_cell.h"
#include "simulator/check/global_races.h"

namespace lockstep::check {

// Accesses by `count` lanes from `lane` on to consecutive granules, `width` (1, 2 or 4) to a lane,
// all bytes of each. False, with nothing recorded, when each lane has to be looked at.
bool record_row(GlobalRaces& races, GlobalCell* cells, std::uint32_t width, std::uint32_t lane,
                std::uint32_t count, GlobalRaces::Access& access);

// Of `count` elements of consecutive granules, how many from the first on have cells that one row
// of lanes would leave, so that record_row() may record them at once.
std::uint32_t length_of_row(const GlobalRaces& races, const GlobalCell* cells, std::uint32_t width,
                            std::uint32_t count);

// The lanes from `lane` to `last` all access one and the same element. Several of them must not
// write weakly. False as above.
bool record_one_place(GlobalRaces& races, GlobalCell* cells, std::uint32_t width,
                      std::uint32_t lane, std::uint32_t last, GlobalRaces::Access& access);

}  // namespace lockstep::check
