// Loads and stores between the files that make them up.
#pragma once

#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Any load and any store, lane by lane where need be: what the faster ways fall back on, before
// they have done anything.
void load_any(Warp& w, const Op& op, LaneMask mask);
void store_any(Warp& w, const Op& op, LaneMask mask);
// The same with the addresses in r.address found already.
void load_from(Warp& w, const Op& op, Request& r, LaneMask mask);
void store_to(Warp& w, const Op& op, Request& r, LaneMask mask);

// For one element a lane in global memory, its register as wide as it is, addresses of 64 bits.
Handler global_load_handler(const Op& op);
Handler global_store_handler(const Op& op);

// For one element a lane in shared memory, its register as wide as it is, addresses of 32 bits;
// nullptr for load_any or store_any.
Handler shared_load_handler(const Op& op);
Handler shared_store_handler(const Op& op);

}  // namespace lockstep::engine
