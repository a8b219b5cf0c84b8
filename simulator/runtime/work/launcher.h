// Launching a kernel: what must be true of the configuration, and what becomes of the outcome.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/launch/running.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/work_types.h"

namespace lockstep::runtime {

// Checks a launch of `kernel` against the device, without running it. Says what is wrong.
cudaError_t check_launch(Runtime& runtime, Device& device, const char* function,
                         const KernelEntry& entry, const engine::Kernel& kernel,
                         LaunchRequest& request);

// A kernel that has begun, and may wait for something.
class RunningKernel {
 public:
  // Begins a kernel that make_kernel_work made ready, as the operation at `at`, of a chain
  // (dependent_launches.h) and a family (check/launch_order.h).
  static cudaError_t begin(Runtime& runtime, Device& device, const KernelWork& work,
                           const Operation& at, std::uint64_t chain, std::uint64_t family,
                           std::unique_ptr<RunningKernel>* result);
  // Runs it. False: it waits for memory to change that it does not change itself.
  bool advance();
  // It goes on, after others have been executed.
  void go_on(Runtime& runtime);
  engine::Running& running() { return *running_; }
  // nullptr: it has ended.
  engine::Running* under_way() { return running_.get(); }
  // It has waited for memory to change: it may have learnt of what was executed meanwhile.
  bool has_waited() const { return has_waited_; }
  const engine::Kernel& kernel() const { return *kernel_; }
  // What has become of it. Its own errors are kept for the next call (Device::error) unless
  // CUDA_LAUNCH_BLOCKING is set.
  cudaError_t finish(Runtime& runtime, Device& device, const Operation& at);
  // What it has launched, once it has finished.
  std::vector<engine::DeviceLaunch> take_launches() { return std::move(launches_); }

 private:
  RunningKernel() = default;

  const engine::Kernel* kernel_ = nullptr;
  const KernelEntry* entry_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::string made_by_;  // of KernelWork
  CallStack stack_;
  std::string by_kernel_;
  std::unique_ptr<engine::Running> running_;
  std::optional<engine::Outcome> outcome_;  // where it ran to its end at once
  std::vector<engine::DeviceLaunch> launches_;
  bool has_waited_ = false;
  std::shared_ptr<const Clock> host_knows_;  // when it last went on
  Clock heard_;                              // what it may have learnt before from the host
};

// The error for something that is no registered kernel: a null pointer, or anything else, which
// CUDA takes for a handle.
cudaError_t unknown_kernel(const void* function);

// The most dynamic shared memory a launch of the kernel may ask for, as set by cudaFuncSetAttribute
// or by default.
std::size_t dynamic_shared_limit(const Runtime& runtime, const KernelEntry& entry,
                                 const engine::Kernel& kernel, int device);

}  // namespace lockstep::runtime
