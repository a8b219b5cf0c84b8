// Launches kernels: checks the configuration and handles the outcome.
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

// Checks a launch of `kernel` for the device, without running it. Prints what is wrong.
cudaError_t check_launch(Runtime& runtime, Device& device, const char* function,
                         const KernelEntry& entry, const engine::Kernel& kernel,
                         LaunchRequest& request);

// A kernel that has started and may be waiting for something.
class RunningKernel {
 public:
  // Starts a kernel that make_kernel_work prepared, as the operation `at` of a chain
  // (dependent_launches.h) and a family (check/launch_order.h).
  static cudaError_t begin(Runtime& runtime, Device& device, const KernelWork& work,
                           const Operation& at, std::uint64_t chain, std::uint64_t family,
                           std::unique_ptr<RunningKernel>* result);
  // Runs the kernel, as engine::Running::advance().
  engine::Running::State advance(std::uint64_t budget = 0);
  // Call before the kernel continues, after others may have gone on.
  void go_on(Runtime& runtime);
  engine::Running& running() { return *running_; }
  bool polls() const { return running_ != nullptr && running_->polls(); }
  // nullptr: it has ended.
  engine::Running* under_way() { return running_.get(); }
  // Whether it has waited for memory to change, or for the host while it changed memory itself. It
  // may then have learnt of operations executed in the meantime.
  bool has_waited() const { return has_waited_; }
  const engine::Kernel& kernel() const { return *kernel_; }
  // Reports the outcome. The kernel's errors are kept for the next call (Device::error) unless
  // CUDA_LAUNCH_BLOCKING is set.
  cudaError_t finish(Runtime& runtime, Device& device, const Operation& at);
  // The grids that it has launched. Call after finish().
  std::vector<engine::DeviceLaunch> take_launches() { return std::move(launches_); }

 private:
  // Lists a kernel in Runtime::running.
  class Listed {
   public:
    Listed(Runtime& runtime, engine::Running& kernel) : runtime_(runtime), kernel_(kernel) {
      runtime_.running.push_back(&kernel_);
    }
    ~Listed() { std::erase(runtime_.running, &kernel_); }
    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;

   private:
    Runtime& runtime_;
    engine::Running& kernel_;
  };

  RunningKernel() = default;
  void note_execution(Runtime& runtime, const engine::Outcome& outcome) const;

  const engine::Kernel* kernel_ = nullptr;
  const KernelEntry* entry_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::string made_by_;  // KernelWork::made_by
  CallStack stack_;
  std::string by_kernel_;
  std::unique_ptr<engine::Running> running_;
  std::optional<Listed> listed_;            // while running_ exists
  std::optional<engine::Outcome> outcome_;  // if it ran to its end at once
  std::vector<engine::DeviceLaunch> launches_;
  std::optional<Repeats::Attempt> attempt_;  // if it may be repeated later
  bool repeats_ = false;                     // an earlier launch, so it is not executed
  bool has_waited_ = false;
  bool interrupted_ = false;                 // others may have gone on before it ended
  std::shared_ptr<const Clock> host_knows_;  // when it last continued
  Clock heard_;                              // what it may have learnt from the host before
};

// The error for something that is not a registered kernel: a null pointer, or anything else, which
// CUDA treats as a handle.
cudaError_t unknown_kernel(const void* function);

// The most dynamic shared memory that a launch of the kernel may request, as set by
// cudaFuncSetAttribute or by default.
std::size_t dynamic_shared_limit(const Runtime& runtime, const KernelEntry& entry,
                                 const engine::Kernel& kernel, int device);

}  // namespace lockstep::runtime
