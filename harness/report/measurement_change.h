// Describes the differences between two measurements of the same part of a device.
#pragma once

#include <string>

#include "harness/report/passport_file.h"

namespace lockstep {

// A sentence, or an empty text if the two agree. For a matrix unit it states how far two results
// for the same inputs can differ.
std::string change_of(const Measurement& before, const Measurement& after);

// The largest error of a matrix unit's result, as a share of the largest term or intermediate sum:
// the bits that each step cuts from its terms, and the rounding. 0 if nothing is cut or rounded;
// negative if unknown.
double share_lost(const Measurement& unit);

}  // namespace lockstep
