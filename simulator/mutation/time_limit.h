// The time limit of a mutant's process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <string>

namespace lockstep::mutation {

// Measures processor time from construction, so that a busy machine kills no mutant. A process that
// waits for ever uses no processor time. Once the limit has elapsed by the clock, the process is
// over when it has slept for kSleeps seconds without progress, and after kWaits times the limit at
// the latest.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}

  double elapsed() const { return since(begun_); }

  // Whether the limit is exceeded. Call it repeatedly for the same process, a child that has not
  // been waited for.
  bool is_over(pid_t process) {
    constexpr double kWaits = 10, kSleeps = 2;
    const double elapsed = this->elapsed();
    if (elapsed <= seconds_) return false;
    const double used = processor_seconds(process);
    if (used > seconds_ || elapsed > kWaits * seconds_) return true;
    if (!sleeps(process) || used > used_) asleep_ = Clock::now(), used_ = used;
    return since(asleep_) > kSleeps;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  static double processor_seconds(pid_t process) {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }
  // A process that waits for a processor does not sleep.
  static bool sleeps(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name = text.rfind(") ");  // the name may contain brackets
    return name != std::string::npos && text[name + 2] == 'S';
  }

  double seconds_;
  Clock::time_point begun_ = Clock::now(), asleep_ = begun_;
  double used_ = -1;  // processor seconds at the last observed progress
};

}  // namespace lockstep::mutation
