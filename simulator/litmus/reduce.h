// Makes litmus programs small that the simulated GPU judges otherwise than the oracle.
#pragma once

#include <cstdint>
#include <span>

#include "simulator/litmus/compare.h"

namespace lockstep::litmus {

// Makes a program small for as long as it differs in the same way, by the same rule, under one of
// the schedules. One that differs by kThreeThreads may become one that differs by no rule: then two
// threads were enough.
Program minimised(const Program& program, const Difference& difference, Simulator& gpu,
                  std::span<const std::uint64_t> schedules);

}  // namespace lockstep::litmus
