// Clusters: blocks that run together, wait for one another at the cluster's barrier and reach into
// one another's shared memory (PTX ISA 9.7.9.24 mapa, 9.7.9.25 getctarank, 9.7.13.4
// barrier.cluster).
//
// A cluster runs on one host thread, its blocks in turns, so what its blocks do to one another does
// not depend on the host. A launch without clusters has clusters of one block; they are made only
// when the program has a cluster barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Some lanes of the warp exit: the barrier waits for them no longer. To be called while they still
// count as living.
void leave_cluster(Warp& w, LaneMask lanes);
// Opens the next phase when all that live have arrived, after something that the warp has done.
void check_cluster_phase(Warp& w);

// The barrier has two halves. A thread arrives, which waits for nobody, and then waits for the
// phase it arrived at. An arrival with .relaxed (no kRelease) releases to others only what a fence
// has published. The lanes of a warp need not come together, also where .aligned promises that they
// do: that promise is not checked.
void run_cluster_arrive(Warp& w, const Op& op, LaneMask mask);
void run_cluster_wait(Warp& w, const Op& op, LaneMask mask);

// mapa and getctarank.
void run_map_address(Warp& w, const Op& op, LaneMask mask);
void run_rank_of_address(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
