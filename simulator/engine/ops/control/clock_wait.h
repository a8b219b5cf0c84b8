// Kernels that wait by the clock: a loop reads a clock until enough time has passed, as delays in
// samples and tests of streams do. One instruction is one tick, so a wait of one second would take
// two thousand million instructions.
#pragma once

#include <cstdint>

#include "simulator/engine/state/warp.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

// Whether the operation at `pc` reads a clock in a loop that only computes: nothing but the clock
// can end it. A loop that also reads memory may wait for another thread, with a limit by the clock.
bool waits_by_clock(const program::Program& program, std::uint32_t pc);

// Call when the warp reads a clock at `pc`. In a loop that waits by the clock, each reading from
// the 64th on also advances the warp's clock by an eighth of the time waited, at most 2^26 ticks.
// So a wait ends after few instructions, and at most an eighth later than the program asks.
void pass_time(Warp& w, std::uint32_t pc);

}  // namespace lockstep::engine
