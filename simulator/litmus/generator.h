// Random litmus programs: threads hand data over to each other in one of the ways that PTX has, or
// nearly so; a few stray operations; scopes and orders at random.
#pragma once

#include <cstdint>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

// Where the threads of a program are.
enum class Placement : std::uint8_t { kLanes, kWarps, kBlocks, kCluster, kMixed };
inline constexpr int kPlacements = 5;
const char* name(Placement p);

// Where its data are.
enum class Space : std::uint8_t { kGlobal, kShared, kDistributed, kSeveral };
inline constexpr int kSpaces = 4;
const char* name(Space s);

Placement placement_of(const Program& p);
Space space_of(const Program& p);

// The program of a number; the same for ever. It may block for ever (oracle.h finds out).
Program random_program(std::uint64_t number);

}  // namespace lockstep::litmus
