// A queue entry: the work to execute, and the data for its execution.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/runtime/queue/queue.h"
#include "simulator/runtime/work/device_launches.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

struct Pending final : Entry, PutBy {
  Work work;
  const char* api_name = "";
  // Instead of work: a cudaStreamAddCallback callback, called with the device's error.
  std::function<void(cudaError_t)> callback;
  // Instead of work: a conditional node, which inserts the following operations behind itself
  // (graph/conditional.h).
  std::function<cudaError_t(Runtime&, Pending&)> expand;
  std::vector<std::byte> staged;   // the bytes of a pageable source, which `work` copies from
  std::shared_ptr<Moment> moment;  // of a RecordWork: the time of execution
  // Kernels have the same number if no other operation was put between them and nobody waited
  // (dependent_launches.h).
  std::uint64_t chain = 0;
  std::unique_ptr<RunningKernel> kernel;  // of KernelWork, once it has started
  DeviceLaunches launches;  // grids that it has launched and that have not been executed
  std::optional<KernelWork> descendant;  // the work of `kernel`, if it is one of these grids
  std::size_t next_value = 0;  // of MemoryOperationsWork: the first operation that is not done
  bool interrupted = false;    // the kernel, when it was last executed (slices.h)
  bool awaited = false;        // the call that has put it returns its error
  bool late = false;           // that call has returned, or its arguments were checked then
  cudaError_t result = cudaSuccess;  // once it is done
};

// Reads the source of a copy from pageable memory now, if there is room for its bytes.
void stage_source(const Runtime& runtime, Pending& p);

}  // namespace lockstep::runtime
