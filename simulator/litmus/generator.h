// Generates random litmus programs: threads pass data to each other in one of the ways of PTX, or
// nearly so, with a few additional operations and random scopes and orders.
#pragma once

#include <cstdint>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

// The placement of a program's threads.
enum class Placement : std::uint8_t { kLanes, kWarps, kBlocks, kCluster, kMixed };
inline constexpr int kPlacements = 5;
const char* name(Placement p);

// The memory of its data.
enum class Space : std::uint8_t { kGlobal, kShared, kDistributed, kSeveral };
inline constexpr int kSpaces = 4;
const char* name(Space s);

Placement placement_of(const Program& p);
Space space_of(const Program& p);

// The program of a number, always the same. It may block forever (the oracle detects that).
Program random_program(std::uint64_t number);

}  // namespace lockstep::litmus
