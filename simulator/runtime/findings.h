// The findings of this process: printed as they happen, kept for lockstepTakeFindings, and told by the exit status when nobody took them.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "simulator/check/finding.h"

namespace lockstep::runtime {

// The exit status of a process that would have ended with 0 although an error was found that nobody took.
inline constexpr int kExitWithFindings = 86;

class FindingLog {
 public:
  void add(std::vector<check::Finding> findings);
  std::vector<check::Finding> take();
  bool errors_untaken() const;
  bool set_quiet(bool quiet);
  bool quiet() const;

 private:
  mutable std::mutex mutex_;
  std::vector<check::Finding> kept_;
  bool quiet_ = false;
};

// The array that extension.h describes.
std::string to_json(const std::vector<check::Finding>& findings);

// Arranges that the exit status tells of errors in `log`, which must live for ever.
void watch_exit(const FindingLog* log);

}  // namespace lockstep::runtime
