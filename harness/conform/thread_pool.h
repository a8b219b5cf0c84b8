// A thread pool for a list of tasks: several at once, in their order, until one of them says stop.
#pragma once

#include <cstddef>
#include <functional>

namespace lockstep {

// Calls task(0), task(1) … task(count - 1), up to `workers` of them at the same time, each as soon
// as a worker is free; with one worker on the calling thread, one after the other. A task that
// answers false stops the handing out: those that have begun come to their end, no other begins.
// How many began; all when no task said stop.
std::size_t run_tasks(int workers, std::size_t count, const std::function<bool(std::size_t)>& task);

}  // namespace lockstep
