// When operations are executed, and by whom: by the thread that needs them.
//
// Under schedule 0 an operation is executed as late as the program allows: when somebody waits for
// it, or for something that comes after it. Operations are executed in the order in which they were
// put. Other seeds choose at each put and each wait: some operations early, some late, in any order
// that the API allows. LOCKSTEP_STREAMS=at-once executes an operation when it is put.
//
// All functions are called under the device lock. They give it up while they run a host function of
// the program, and while they wait for another thread: what the caller has looked up before may be
// gone then.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {

// So many operations wait at most. They fit into a processor's second cache: of 1,024 each launch
// took twice as long.
inline constexpr std::size_t kMostPending = 128;

// Whether operations are executed when they are put.
bool executes_at_once(const Runtime& runtime);

// Something has been added to the queue: executes what the schedule has executed then.
void after_put(Runtime& runtime);

// Executes the first that can be executed; false: there is none.
bool execute_one(Runtime& runtime);

// The host waits: executes all that `what` covers, and what that needs. A wait that never ends is
// reported as a deadlock, and what waits is given up.
void run_until(Runtime& runtime, const Clock& what);
// No wait: executes all that can be executed, but host functions and what comes after those.
void run_all(Runtime& runtime);
// The host asks whether all that `what` covers has been executed. Each answer "no" executes
// something, so that a program that asks again gets on.
bool ask(Runtime& runtime, const Clock& what);

// The host has waited for it: run_until, and all that is put afterwards comes after it.
void wait_for(Runtime& runtime, const Clock& what);
void wait_for_all(Runtime& runtime);

// Waits until another process has executed what the event stands for.
void wait_for_others(Runtime& runtime, const SharedEvent& event);

// The process ends: executes what still waits, but no function of the program.
void execute_at_exit(Runtime& runtime);

// Code goes, after the kernels of it that were launched.
void remove_code(Runtime& runtime, FatBinary* binary);

// The device's operations are not executed any more. Callbacks are called with `error`.
void drop_pending(Runtime& runtime, const Device& device);

}  // namespace lockstep::runtime
