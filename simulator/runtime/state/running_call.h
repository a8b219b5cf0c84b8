// A call of the API while it runs, and how it ends. What is known of a failure lives in the call's
// own frame and ends with it, so that no later call can take it for its own.
#pragma once

#include <optional>
#include <string>

#include "simulator/runtime/state/call_stack.h"

namespace lockstep::runtime {

struct ThreadState;  // runtime.h

// How a call has ended.
struct CallResult {
  int error = 0;       // of its API; 0: none
  std::string reason;  // why it failed, in a sentence; empty where the error says enough
  // Of a launch that is not taken: demangled, empty when it is no kernel.
  std::optional<std::string> kernel;
  bool reported = false;  // it failed for refused device code, which is a finding already
};

class RunningCall {
 public:
  // `driver_function`: of the driver API, which calls the runtime's; nullptr for the runtime's.
  explicit RunningCall(const char* driver_function = nullptr);
  // A call within another: its failure is the other's so far, with its reason and its kernel.
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  // The innermost of the thread; nullptr: none runs.
  static RunningCall* current();

  // The program, not another call, has made it.
  bool is_outermost() const { return outer_ == nullptr; }
  // The function of the driver API that it is, or is made by; nullptr: none.
  const char* called_as() const { return called_as_; }
  // Where the program says <<<>>> of the launch that this is; nullptr: it does not.
  const void* launched_from() const { return launched_from_.caller(); }
  const CallStack& launch_stack() const { return launched_from_; }

  CallResult result;

 private:
  ThreadState& thread_;
  RunningCall* const outer_;
  const char* called_as_;
  CallStack launched_from_;
};

// Whether a function of the driver API has called: then it has asked for a context itself.
inline bool called_by_driver_api() {
  const RunningCall* const call = RunningCall::current();
  return call != nullptr && call->called_as() != nullptr;
}

}  // namespace lockstep::runtime
