// One operation of a stream, as data: a kernel, a copy, a fill, a host function ...
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "simulator/check/descent.h"
#include "simulator/runtime/state/call_stack.h"

namespace lockstep::check {
struct Knowledge;
}

namespace lockstep::runtime {

struct LaunchRequest {
  dim3 grid, block;
  dim3 cluster{1, 1, 1};  // if !has_cluster: as the kernel requires
  bool has_cluster = false;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool programmatic =
      false;  // it may start before the kernel before it has ended (dependent_launches.h)
};

struct Graph;
struct Condition;        // condition.h
struct GraphAllocation;  // graph_memory.h

struct KernelWork {
  const void* function = nullptr;  // the program's handle
  LaunchRequest request;
  std::vector<std::byte> parameters;            // packed, as in engine::LaunchConfig
  std::vector<cudaLaunchAttribute> attributes;  // set on a graph's node
  // The call that has created it, and the calling place in the program.
  std::string made_by;
  CallStack stack;
  std::string by_kernel;  // the kernel that has launched it; empty: the host
  // For a launch by a kernel: its place among the grids that descend from one launch of the host,
  // and what the launching thread knew (engine::LaunchConfig).
  std::shared_ptr<const check::Descent> descent;
  std::shared_ptr<const check::Knowledge> given;
  std::uint64_t given_times = 0;
};
struct CopyWork {
  cudaMemcpy3DParms box{};
};
struct FillWork {
  cudaMemsetParams rows{};  // as checked by check_fill: height rows of width elements
  std::size_t depth = 1,
              slice = 0;  // number of slices, and the bytes between their starts: cudaMemset3D
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;  // a copy that the node owns
};
struct EmptyWork {};
struct WaitWork {
  cudaEvent_t event = nullptr;
};
struct RecordWork {
  cudaEvent_t event = nullptr;
  bool earlier =
      false;  // recorded before the last operation of its stream: a mutant (call_change.h)
};
struct AllocateWork {
  cudaMemAllocNodeParams parameters{};
  std::shared_ptr<GraphAllocation> memory;
};
struct FreeWork {
  void* pointer = nullptr;
  std::shared_ptr<GraphAllocation> memory;  // nullptr: memory of cudaMallocAsync or cudaMalloc
};
struct MemoryOperationsWork {
  std::vector<CUstreamBatchMemOpParams>
      operations;               // as checked by check_operations (memory_operations.h)
  CUcontext context = nullptr;  // the program's handle
};

struct ConditionalWork {
  std::shared_ptr<Condition> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;  // owned by the node
  std::vector<cudaGraph_t> handles;            // the handles of `bodies`, for the program
};

struct LibraryCall;  // library_work.h
struct LibraryWork {
  std::shared_ptr<const LibraryCall> call;
};

// In the order of cudaGraphNodeType up to EmptyWork. type_of() returns the type.
using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, ChildWork, EmptyWork, WaitWork,
                          RecordWork, AllocateWork, FreeWork, MemoryOperationsWork, ConditionalWork,
                          LibraryWork>;

}  // namespace lockstep::runtime
