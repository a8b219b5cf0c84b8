// The operations that are translated, and how.
#pragma once

#include <vector>

#include "simulator/program/operation.h"
#include "simulator/program/program.h"
#include "simulator/translate/place.h"
#include "simulator/translate/run_of_lanes.h"

namespace lockstep::translate {

// Emits one operation for eight lanes.
using Emitter = void (*)(RunOfLanes& run, const Op& op, const program::Meaning& meaning);

// nullptr: the operation stays with the interpreter's handler. What is translated computes exactly
// what that handler does, for every value of its sources.
Emitter emitter_of(const Op& op, const program::Meaning& meaning, const program::Program& program);

// Of an operation with an emitter.
std::vector<Place> places_of(const Op& op, const program::Meaning& meaning);

Mode mode_of(const program::Meaning& meaning);

}  // namespace lockstep::translate
