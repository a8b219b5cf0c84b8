#include "simulator/engine/state/race_history.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace lockstep::engine {

const PastLaunch* RaceHistory::find(std::uint32_t block) const {
  const auto behind = std::upper_bound(
      launches.begin(), launches.end(), block,
      [](std::uint32_t b, const PastLaunch& launch) { return b < launch.first_block; });
  return behind == launches.begin() ? nullptr : &*std::prev(behind);
}

void RaceHistory::forget(const program::Program& program) {
  for (PastLaunch& launch : launches) {
    if (launch.program == &program) launch.program = nullptr;
  }
}

RaceHistory& RaceHistory::of(memory::DeviceMemory& memory) {
  std::shared_ptr<void>& kept = memory.race_state();
  if (kept == nullptr) kept = std::make_shared<RaceHistory>();
  return *static_cast<RaceHistory*>(kept.get());
}

}  // namespace lockstep::engine
