// The order in which the simulated GPU runs blocks, warps and groups of lanes. On silicon these
// functions do nothing.
#pragma once

#include <cstdint>

namespace lockstep {

// The schedule from the environment variable LOCKSTEP_SCHEDULE; if unset 0, the deterministic
// order. Throws std::runtime_error if it is not a number.
std::uint64_t session_schedule();

// Sets the schedule of later launches to `seed` (0: the deterministic order; any other permutes).
// The end of the scope restores session_schedule().
class ScheduleScope {
 public:
  explicit ScheduleScope(std::uint64_t seed);
  ~ScheduleScope();
  ScheduleScope(const ScheduleScope&) = delete;
  ScheduleScope& operator=(const ScheduleScope&) = delete;
};

}  // namespace lockstep
