// The interface through which `lockstep mutate` sees the program's launches and calls, and may
// change them. There is no interceptor in an ordinary run.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/suppressions.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/work_types.h"

namespace lockstep::runtime {

struct FatBinary;
class Runtime;

// All functions are called under the device lock.
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  // A part of the program starts. Returns false if it may be skipped.
  virtual bool begin_part() = 0;
  // Returns the launch's outcome if the launch has been made by now.
  virtual std::optional<engine::Outcome> before_launch(Runtime& runtime, FatBinary& binary,
                                                       const engine::Kernel& kernel,
                                                       engine::LaunchConfig& config) = 0;
  virtual void after_launch(FatBinary& binary, const engine::Kernel& kernel,
                            const engine::Outcome& outcome) = 0;
  // The program reads the counters of its launches.
  virtual void counters_read() = 0;
  // A call of the program puts work into a stream. Returns false to omit the work.
  virtual bool before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream,
                          Work& work) = 0;
  // A call of the program orders operations and could be changed in this way (call_change.h).
  // Returns true to change it.
  virtual bool is_changed(Runtime& runtime, const char* api_name, const char* change) = 0;
  // Whether operations are executed late from now on, as in an ordinary run, rather than as they
  // are put. A mistake of order then has the effect that it may have on a GPU.
  virtual bool executes_late() const = 0;
  // A launch returned `error`. Returns the error that the program receives.
  virtual cudaError_t launch_answered(Runtime& runtime, const char* api_name,
                                      cudaError_t error) = 0;
  // Kernels or calls have these findings; `suppressions` are the program's.
  virtual void found(const std::vector<check::Finding>& findings,
                     const check::Suppressions& suppressions) = 0;
};

// Whether the call is to be made with this change (Interceptor::is_changed).
bool is_changed(Runtime& runtime, const char* api_name, const char* change);

}  // namespace lockstep::runtime
