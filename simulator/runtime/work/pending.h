// What the queue holds of an operation: what is to be done, and for whom.
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
  // In the place of work: cudaStreamAddCallback, with the error of the device.
  std::function<void(cudaError_t)> callback;
  // In the place of work: a conditional node, which puts what comes next behind itself
  // (graph/conditional.h).
  std::function<cudaError_t(Runtime&, Pending&)> expand;
  std::vector<std::byte> staged;   // the bytes of a pageable source, which `work` copies from
  std::shared_ptr<Moment> moment;  // of a RecordWork: when it is executed
  // Kernels between which nothing else was put and nobody waited have the same number
  // (dependent_launches.h).
  std::uint64_t chain = 0;
  std::unique_ptr<RunningKernel> kernel;  // of KernelWork, once it has begun
  DeviceLaunches launches;                // what it has launched, and has not been executed
  std::optional<KernelWork> descendant;   // what `kernel` is of, where it is one of these
  std::size_t next_value = 0;        // of MemoryOperationsWork: the first that has not been done
  bool awaited = false;              // the call that has put it returns its error
  bool late = false;                 // that call has returned, or its arguments were checked then
  cudaError_t result = cudaSuccess;  // once it is done
};

// Reads the source of a copy from pageable memory now, if there is room for its bytes.
void stage_source(const Runtime& runtime, Pending& p);

}  // namespace lockstep::runtime
