// Which function of the engine runs what: the compiler's side is program/handlers.h.
#pragma once

#include "simulator/program/handlers.h"

namespace lockstep::engine {

const program::Handlers& handlers();

}  // namespace lockstep::engine
