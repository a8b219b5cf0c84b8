// How long the process of a mutant may run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <ctime>

namespace lockstep::mutation {

// Counts from when it is made. What counts is processor time: where a machine is busy with other work, a mutant waits and is none the worse for it. One that
// waits for something that never comes uses none, and may take some times as long by the clock.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}

  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(); }

  // Of a process that has been waited for, or is nobody's: by the clock alone.
  bool is_over(pid_t process) const {
    constexpr double kWaits = 10;
    const double elapsed = this->elapsed();
    return elapsed > kWaits * seconds_ || (elapsed > seconds_ && processor_seconds(process) > seconds_);
  }

 private:
  static double processor_seconds(pid_t process) {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }

  double seconds_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep::mutation
