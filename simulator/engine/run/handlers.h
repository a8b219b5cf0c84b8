// Which function of the engine runs what: the compiler's side is program/handlers.h.
#pragma once

#include "simulator/program/handlers.h"

namespace lockstep::engine {

const program::Handlers& handlers();
// For tests, before anything is loaded: others in their place; nullptr: the engine's own again.
void replace_handlers(const program::Handlers* others);

}  // namespace lockstep::engine
