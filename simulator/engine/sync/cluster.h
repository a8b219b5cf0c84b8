// Clusters: blocks that run together, wait for one another at the cluster's barrier and reach into
// one another's shared memory (PTX ISA 9.7.9.24 mapa, 9.7.9.25 getctarank, 9.7.13.4
// barrier.cluster).
//
// A cluster runs on one host thread, its blocks in turns, so what its blocks do to one another does
// not depend on the host. A launch without clusters has clusters of one block; they are made only
// when the program has a cluster barrier.
//
// A shared address of 32 bits names a block in its top byte: 0 is the block itself, r + 1 the block
// of rank r.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/engine/schedule/block.h"
#include "simulator/engine/schedule/scheduler.h"

namespace lockstep::engine {

inline constexpr int kRankShift = 24;
inline constexpr std::uint32_t kOffsetMask = (1u << kRankShift) - 1;
// In the top byte: a rank that no cluster has, too large to be told.
inline constexpr std::uint32_t kNoRank = 0xff;

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;  // by rank; kept until all of them have ended
  std::uint32_t living = 0;                    // threads that have not exited
  std::uint32_t arrived =
      0;  // of these, threads that have arrived at the open phase of the barrier
};

// Runs the blocks in turns until all have ended, one has failed, or all that can run only wait for
// somebody outside.
Progress run_cluster(Cluster& c);
// Some lanes of the warp exit: the barrier waits for them no longer. To be called while they still
// count as living.
void leave_cluster(Warp& w, LaneMask lanes);
// Opens the next phase when all that live have arrived, after something that the warp has done.
void check_cluster_phase(Warp& w);
// Whether lanes of the block wait for what other blocks of the cluster may do: at its barrier, or
// at an mbarrier.
bool waits_for_cluster(const Block& b);

// The barrier has two halves. A thread arrives, which waits for nobody, and then waits for the
// phase it arrived at. An arrival with .relaxed (no kRelease) tells others only what a fence has
// published. The lanes of a warp need not come together, also where .aligned promises that they do:
// that promise is not checked.
void run_cluster_arrive(Warp& w, const Op& op, LaneMask mask);
void run_cluster_wait(Warp& w, const Op& op, LaneMask mask);

// mapa and getctarank.
void run_map_address(Warp& w, const Op& op, LaneMask mask);
void run_rank_of_address(Warp& w, const Op& op, LaneMask mask);

// The rank that a shared address names, as seen from the block: its own where none is named.
inline std::uint32_t rank_named(const Block& b, std::uint32_t address) {
  const std::uint32_t name = address >> kRankShift;
  return name == 0 ? b.cluster_rank : name - 1;
}

}  // namespace lockstep::engine
