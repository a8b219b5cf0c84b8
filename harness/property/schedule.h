// The order in which the simulated GPU runs blocks, warps and groups of lanes. On silicon these
// functions do nothing.
#pragma once

#include <cstdint>

namespace lockstep {

// The schedule that the environment asks for, LOCKSTEP_SCHEDULE; 0, the deterministic order, when
// unset. Throws std::runtime_error when that is no number.
std::uint64_t session_schedule();

// Later launches follow `seed` (0: the deterministic order; any other permutes) until the end of
// the scope, which puts back session_schedule().
class ScheduleScope {
 public:
  explicit ScheduleScope(std::uint64_t seed);
  ~ScheduleScope();
  ScheduleScope(const ScheduleScope&) = delete;
  ScheduleScope& operator=(const ScheduleScope&) = delete;
};

}  // namespace lockstep
