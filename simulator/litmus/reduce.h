// Reduces litmus programs for which the simulated GPU and the oracle differ.
#pragma once

#include <cstdint>
#include <span>

#include "simulator/litmus/compare.h"

namespace lockstep::litmus {

// Reduces a program as long as it differs in the same way, by the same rule, under one of the
// schedules. A difference by kThreeThreads may become one by no rule: two threads were then
// sufficient.
Program minimised(const Program& program, const Difference& difference, Simulator& gpu,
                  std::span<const std::uint64_t> schedules);

}  // namespace lockstep::litmus
