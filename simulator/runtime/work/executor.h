// Decides when operations are executed. The thread that needs an operation executes it.
//
// Under schedule 0 an operation is executed as late as the program allows: when a call waits for
// it, or for an operation ordered after it. Operations are executed in the order in which they were
// put. Other seeds choose at each put and each wait: some operations early, some late, in any order
// that the API allows. LOCKSTEP_STREAMS=at-once executes an operation when it is put.
//
// Call all functions under the device lock. They release it while they run a host function of the
// program, and while they wait for another thread. So objects that the caller has looked up before
// may be gone afterwards.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {

// Whether operations are executed when they are put.
bool executes_at_once(const Runtime& runtime);

// Call after adding to the queue: executes what the schedule executes then.
void after_put(Runtime& runtime);

// Executes the first operation that can be executed, and slices of kernels before it. Returns false
// if nothing went on.
bool execute_one(Runtime& runtime);

// The host waits: executes all operations that `what` covers, and those that they need. A wait that
// never ends is reported as a deadlock, and the waiting operations are dropped.
void run_until(Runtime& runtime, const Clock& what);
// Without a wait: executes all that can be executed, except host functions and operations after
// them.
void run_all(Runtime& runtime);
// The host queries whether all operations that `what` covers have been executed. Each negative
// result executes an operation, so a program that polls makes progress.
bool ask(Runtime& runtime, const Clock& what);

// Calls run_until() and orders everything that is put afterwards after `what`.
void wait_for(Runtime& runtime, const Clock& what);
void wait_for_all(Runtime& runtime);

// Waits until another process has executed what the event represents.
void wait_for_others(Runtime& runtime, const SharedEvent& event);

// The process ends: executes the queued operations, but no function of the program.
void execute_at_exit(Runtime& runtime);

// Removes code after the kernels of it that were launched have been executed.
void remove_code(Runtime& runtime, FatBinary* binary);

// Drops the device's queued operations. Callbacks are called with `error`.
void drop_pending(Runtime& runtime, const Device& device);

}  // namespace lockstep::runtime
