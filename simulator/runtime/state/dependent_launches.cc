#include "simulator/runtime/state/dependent_launches.h"

#include <utility>

namespace lockstep::runtime {

const std::vector<engine::RunningGrid>& DependentLaunches::before(cudaStream_t stream,
                                                                  bool programmatically) {
  beside_ = known_ && programmatically && stream == stream_ ? std::move(next_)
                                                            : std::vector<engine::RunningGrid>();
  next_.clear();
  return beside_;
}

void DependentLaunches::ran(cudaStream_t stream, const std::string& kernel,
                            const engine::Outcome& outcome) {
  stream_ = stream;
  known_ = true;
  next_ = beside_;
  // Where a block waited before it let dependents start, what it waited for has ended by then.
  if (outcome.waited_before_start)
    std::erase_if(next_, [](const engine::RunningGrid& grid) { return grid.until_wait; });
  // The next kernel waits for this one: for those before it only if this one waits for them before
  // it ends.
  for (engine::RunningGrid& grid : next_) grid.until_wait = grid.until_wait && outcome.waited;
  if (outcome.started_dependents)
    next_.push_back({kernel, outcome.first_record, outcome.end_of_records, true});
}

void DependentLaunches::forget() {
  known_ = false;
  next_.clear();
}

}  // namespace lockstep::runtime
