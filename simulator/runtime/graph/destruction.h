// Destroys contexts, and everything on a device, after ending the work that uses them.
#pragma once

#include "simulator/runtime/state/contexts.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Waits for all work, ends the captures of the context's streams, and destroys it.
void destroy_context(Runtime& runtime, Context& context);
// Destroys everything on a device.
void reset_device(Runtime& runtime, Device& device);

}  // namespace lockstep::runtime
