// What the engine answers translated code (simulator/translate/lean.h), and how those answers are
// held against a look at each lane.
#pragma once

#include "simulator/engine/state/warp.h"
#include "simulator/translate/lean.h"

namespace lockstep::engine {

struct Launch;

// Whether nothing but bounds, alignment and unwritten bytes is to be checked of loads from shared
// memory: no search for races, no counts.
bool has_silent_shared_memory(const Launch& launch);

// `shared`: whether loads of shared memory may be asked for, in a launch where the above holds.
translate::Answers lean_answers(bool shared);

// For LOCKSTEP_TRANSLATE=compare: executes an operation that was asked for, lane by lane
// and without the answers. What it may not do, or nullptr: bounds, alignment, and bytes that
// nobody has written.
const char* execute_lean(Warp& w, const Op& op);

}  // namespace lockstep::engine
