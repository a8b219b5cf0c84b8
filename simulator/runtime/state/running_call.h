// A running API call and its result. The details of a failure are stored in the call's own stack
// frame, so no later call can use them by mistake.
#pragma once

#include <optional>
#include <string>

#include "simulator/runtime/state/call_stack.h"

namespace lockstep::runtime {

struct ThreadState;  // runtime.h

// How a call has ended.
struct CallResult {
  int error = 0;       // in its API's numbers; 0: none
  std::string reason;  // why it failed, as a sentence; empty if the error is sufficient
  // For a refused launch: the kernel, demangled; empty if it is no kernel.
  std::optional<std::string> kernel;
  bool reported = false;  // it failed because of refused device code, which is a finding already
};

class RunningCall {
 public:
  // `driver_function`: the function of the driver API, which calls the runtime's; nullptr for a
  // call of the runtime API.
  explicit RunningCall(const char* driver_function = nullptr);
  // For a nested call: passes a failure, with its reason and kernel, to the outer call.
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  // The innermost running call of the thread; nullptr: none.
  static RunningCall* current();

  // Whether the program, not another call, has made it.
  bool is_outermost() const { return outer_ == nullptr; }
  // The driver API function that this call is, or that has made it; nullptr: none.
  const char* called_as() const { return called_as_; }
  // The place of <<<>>> if this is such a launch; nullptr otherwise.
  const void* launched_from() const { return launched_from_.caller(); }
  const CallStack& launch_stack() const { return launched_from_; }

  CallResult result;

 private:
  ThreadState& thread_;
  RunningCall* const outer_;
  const char* called_as_;
  CallStack launched_from_;
};

// Whether a driver API function has made the call. Then it has already selected a context.
inline bool called_by_driver_api() {
  const RunningCall* const call = RunningCall::current();
  return call != nullptr && call->called_as() != nullptr;
}

}  // namespace lockstep::runtime
