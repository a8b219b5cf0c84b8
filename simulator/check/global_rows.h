// The fast path of the search for races: judges and records the accesses of many lanes of one
// instruction at once, if the lanes are alike. The result for a row equals that of
// GlobalRaces::access() for each lane.
#pragma once

#include <cstdint>

#include "simulator/check/global_cell.h"
#include "simulator/check/global_races.h"

namespace lockstep::check {

// Records accesses by `count` lanes from `lane` on to consecutive granules: `width` (1, 2 or 4)
// granules for each lane, all bytes of each. Returns false, with nothing recorded, if each lane
// must be judged alone.
bool record_row(GlobalRaces& races, GlobalCell* cells, std::uint32_t width, std::uint32_t lane,
                std::uint32_t count, GlobalRaces::Access& access);

// Records a weak access by one lane to `width` granules, all bytes of each. Returns false, with
// nothing recorded, unless the cells are alike and the access does not race: the granules must then
// be judged one by one.
bool record_element(GlobalRaces& races, GlobalCell* cells, std::uint32_t width, std::uint32_t lane,
                    GlobalRaces::Access& access);

// The number of elements, from the first of `count` on, whose cells a single row of lanes could
// have left. record_row() may then record them at once. The elements are consecutive granules.
std::uint32_t length_of_row(const GlobalRaces& races, const GlobalCell* cells, std::uint32_t width,
                            std::uint32_t count);

// Records accesses of the lanes from `lane` to `last` to one and the same element. If there are
// several lanes, they must not write weakly. Returns false as record_row() does.
bool record_one_place(GlobalRaces& races, GlobalCell* cells, std::uint32_t width,
                      std::uint32_t lane, std::uint32_t last, GlobalRaces::Access& access);

}  // namespace lockstep::check
