// A thread pool for a list of tasks. A task can stop the distribution of further tasks.
#pragma once

#include <cstddef>
#include <functional>

namespace lockstep {

// Calls task(0), task(1), ... task(count - 1), up to `workers` of them concurrently, in order as
// workers become free. One worker is the calling thread. After a task has returned false, running
// tasks finish and no other begins. Returns the number of tasks that began.
std::size_t run_tasks(int workers, std::size_t count, const std::function<bool(std::size_t)>& task);

}  // namespace lockstep
