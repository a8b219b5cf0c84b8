// Who sees the program's launches and calls as they come, and may change them: `lockstep mutate`.
// None in an ordinary run.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "simulator/check/finding.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/work_types.h"

namespace lockstep::runtime {

struct FatBinary;
class Runtime;

// All calls are made under the device lock.
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  // A part of the program begins; false: it may be left out.
  virtual bool begin_part() = 0;
  virtual void before_launch(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
                             engine::LaunchConfig& config) = 0;
  virtual void after_launch(FatBinary& binary, const engine::Kernel& kernel,
                            const engine::Outcome& outcome) = 0;
  // The program asks for the counters of its launches.
  virtual void counters_read() = 0;
  // A call of the program puts work into a stream; false: it is left out.
  virtual bool before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream,
                          Work& work) = 0;
  // A call of the program orders operations, and could be changed in this way (call_change.h);
  // true: it is to be.
  virtual bool is_changed(Runtime& runtime, const char* api_name, const char* change) = 0;
  // Operations are executed late from here on, as in an ordinary run, and not as they are put: a
  // mistake of order then has the effect that it may have on a GPU.
  virtual bool executes_late() const = 0;
  // A launch was answered with an error; what the program is to see of it.
  virtual cudaError_t launch_answered(Runtime& runtime, const char* api_name,
                                      cudaError_t error) = 0;
  // Errors found in kernels and calls.
  virtual void found(const std::vector<check::Finding>& findings) = 0;
};

// Whether the call is to be made with this change (Interceptor::is_changed).
bool is_changed(Runtime& runtime, const char* api_name, const char* change);

}  // namespace lockstep::runtime
