#include "harness/property/schedule.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "harness/device/device.h"
#include "harness/property/field.h"

namespace lockstep {

std::uint64_t session_schedule() {
  static const std::uint64_t kSchedule = [] {
    const char* const text = std::getenv("LOCKSTEP_SCHEDULE");
    std::uint64_t seed = 0;
    if (text && *text && !parse_integer(text, seed))
      throw std::runtime_error(std::string("LOCKSTEP_SCHEDULE is '") + text + "', not a number");
    return seed;
  }();
  return kSchedule;
}

ScheduleScope::ScheduleScope(std::uint64_t seed) {
  session_schedule();  // a bad LOCKSTEP_SCHEDULE throws here, not in the destructor
  if (extension().set_schedule) extension().set_schedule(seed);
}

ScheduleScope::~ScheduleScope() {
  if (extension().set_schedule) extension().set_schedule(session_schedule());
}

}  // namespace lockstep
