// Reduces litmus programs on which the simulated GPU and the oracle differ.
#pragma once

#include <cstdint>
#include <span>

#include "simulator/litmus/compare.h"

namespace lockstep::litmus {

// Reduces a program while it differs in the same way, by the same rule, under one of the schedules.
// A program that differs by kThreeThreads may become one that no rule explains: then two threads
// were sufficient.
Program minimised(const Program& program, const Difference& difference, Simulator& gpu,
                  std::span<const std::uint64_t> schedules);

}  // namespace lockstep::litmus
