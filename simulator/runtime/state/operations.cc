#include "simulator/runtime/state/operations.h"

#include <algorithm>

namespace lockstep::runtime {

void Operations::watch(bool on) {
  std::lock_guard lock(mutex_);
  kept_.clear();
  watched_ = on;
}

void Operations::note(const lockstepOperation& operation) {
  if (!watched()) return;
  std::lock_guard lock(mutex_);
  kept_.push_back(operation);
}

std::size_t Operations::read(lockstepOperation* to, std::size_t room) const {
  std::lock_guard lock(mutex_);
  if (to != nullptr) std::copy_n(kept_.begin(), std::min(room, kept_.size()), to);
  return kept_.size();
}

}  // namespace lockstep::runtime
