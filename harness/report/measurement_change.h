// What changed between two measurements of one part of a device, in words.
#pragma once

#include <string>

#include "harness/report/passport_file.h"

namespace lockstep {

// A sentence, or nothing where they agree. Of a matrix unit it says how far two results for the
// same numbers can be apart.
std::string change_of(const Measurement& before, const Measurement& after);

// How far a matrix unit's result may be from the exact sum, as a share of the largest term or sum
// on the way: what each step cuts from its terms, and what it rounds. 0 where nothing is cut or
// rounded; below 0 where that is not known.
double share_lost(const Measurement& unit);

}  // namespace lockstep
