// Creates work from the parameter structures of graph nodes. Each function returns CUDA's error for
// parameters that no node can have.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "simulator/runtime/graph/graph.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

cudaError_t kernel_work(Runtime& r, Device& d, const char* api_name,
                        const cudaKernelNodeParams* params, Work* work);
cudaError_t copy_work(Runtime& r, const char* api_name, const cudaMemcpy3DParms* params,
                      Work* work);
cudaError_t line_work(Runtime& r, const char* api_name, void* to, const void* from,
                      std::size_t count, cudaMemcpyKind kind, Work* work);
cudaError_t to_symbol_work(Runtime& r, Device& d, const char* api_name, const void* symbol,
                           const void* from, std::size_t count, std::size_t offset,
                           cudaMemcpyKind kind, Work* work);
cudaError_t from_symbol_work(Runtime& r, Device& d, const char* api_name, void* to,
                             const void* symbol, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind, Work* work);
cudaError_t fill_work(Runtime& r, const char* api_name, const cudaMemsetParams* params, Work* work);
cudaError_t host_work(const cudaHostNodeParams* params, Work* work);
cudaError_t child_work(Runtime& r, const char* api_name, cudaGraph_t graph, Work* work);
// The graph itself, not a copy, becomes the child (cudaGraphChildGraphOwnershipMove).
cudaError_t moved_child_work(const Graph& parent, cudaGraph_t graph, Work* work);
cudaError_t record_work(Runtime& r, cudaEvent_t event, Work* work);
cudaError_t wait_work(Runtime& r, cudaEvent_t event, Work* work);
// Allocates memory. The address, which is stored in `params->dptr`, is the same at every launch.
cudaError_t allocate_work(Runtime& r, const char* api_name, const Graph& graph,
                          cudaMemAllocNodeParams* params, Work* work);
// Frees memory that a node of this graph, or of another graph, has allocated.
cudaError_t free_work(Runtime& r, const char* api_name, const Graph& graph, void* pointer,
                      Work* work);
// The work of a node of `graph` of any type, from the general parameter structure.
cudaError_t any_work(Runtime& r, Device& d, const char* api_name, Graph& graph,
                     cudaGraphNodeParams* params, Work* work);

// Sets new parameters of a node. Returns cudaErrorInvalidValue for parameters of another node type.
cudaError_t set_work(GraphNode& node, Work work);

}  // namespace lockstep::runtime
