// Clusters: blocks that run together, synchronise at the cluster's barrier and access each other's
// shared memory (PTX ISA 9.7.9.24 mapa, 9.7.9.25 getctarank, 9.7.13.4 barrier.cluster).
//
// A cluster runs on one host thread, its blocks in turns, so the interaction of its blocks does not
// depend on the host. A launch without clusters has clusters of one block. They are created only if
// the program has a cluster barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Some lanes of the warp exit: the barrier no longer waits for them. Call while they still count as
// live.
void leave_cluster(Warp& w, LaneMask lanes);
// Call after an action of the warp. Opens the next phase if all live threads have arrived.
void check_cluster_phase(Warp& w);

// The barrier has two halves. A thread arrives, without waiting, and later waits for the phase at
// which it arrived. An arrival with .relaxed (no kRelease) releases to others only what a fence has
// published. The lanes of a warp need not arrive together, even with .aligned: that promise is not
// checked.
void run_cluster_arrive(Warp& w, const Op& op, LaneMask mask);
void run_cluster_wait(Warp& w, const Op& op, LaneMask mask);

// mapa and getctarank.
void run_map_address(Warp& w, const Op& op, LaneMask mask);
void run_rank_of_address(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
