// The engine's table of handlers: which function executes which operation. program/handlers.h is
// the compiler's side.
#pragma once

#include "simulator/program/handlers.h"

namespace lockstep::engine {

const program::Handlers& handlers();
// For tests, before anything is loaded: uses other handlers. nullptr: the engine's own again.
void replace_handlers(const program::Handlers* others);

}  // namespace lockstep::engine
