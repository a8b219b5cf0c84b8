// Nodes of graphs and their parameters in the driver's structures.
#include "simulator/driver/code.h"
#include "simulator/driver/copies.h"

using namespace lockstep::driver;

namespace {

// Parameters of a kernel node in the runtime's structure, with the memory that they point to.
struct KernelParameters {
  cudaKernelNodeParams same{};
  std::vector<void*> unpacked;
};

CUresult read_kernel(Runtime& r, Device& d, const CUDA_KERNEL_NODE_PARAMS* p,
                     KernelParameters* result) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const void* const function =
      p->func != nullptr ? static_cast<const void*>(p->func) : static_cast<const void*>(p->kern);
  const auto* const entry = find_kernel(function);
  if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult error =
          arguments_of(r, d, *entry, p->kernelParams, p->extra, &result->unpacked);
      error != CUDA_SUCCESS)
    return error;
  result->same = {const_cast<void*>(function),
                  dim3(p->gridDimX, p->gridDimY, p->gridDimZ),
                  dim3(p->blockDimX, p->blockDimY, p->blockDimZ),
                  p->sharedMemBytes,
                  p->extra != nullptr ? result->unpacked.data() : p->kernelParams,
                  nullptr};
  return CUDA_SUCCESS;
}

void write_kernel(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* to) {
  *to = {};
  to->func = static_cast<CUfunction>(from.func);
  to->gridDimX = from.gridDim.x;
  to->gridDimY = from.gridDim.y;
  to->gridDimZ = from.gridDim.z;
  to->blockDimX = from.blockDim.x;
  to->blockDimY = from.blockDim.y;
  to->blockDimZ = from.blockDim.z;
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
}

// Runs `body(parameters in the runtime's structure)`.
template <class Body>
CUresult with_kernel(const char* function, const CUDA_KERNEL_NODE_PARAMS* p, Body&& body) {
  return locked(function, Needs::kContext, [&](Runtime& r, Device& d) {
    KernelParameters parameters;
    const CUresult read = read_kernel(r, d, p, &parameters);
    return read != CUDA_SUCCESS ? read : result_of(body(&parameters.same));
  });
}

template <class Body>
CUresult with_copy(const char* function, const CUDA_MEMCPY3D* p, Body&& body) {
  return locked(function, Needs::kContext, [&](Runtime&, Device&) {
    cudaMemcpy3DParms box;
    // A node copies something, as an H200 shows; a call may copy nothing.
    if (p == nullptr || copies_nothing(*p)) return CUDA_ERROR_INVALID_VALUE;
    const CUresult read = box_of(*p, &box);
    return read != CUDA_SUCCESS ? read : result_of(body(&box));
  });
}

template <class Body>
CUresult with_fill(const char* function, const CUDA_MEMSET_NODE_PARAMS* p, Body&& body) {
  return call(function, Needs::kContext, [&] {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaMemsetParams same{pointer(p->dst), p->pitch, p->value,
                                p->elementSize,  p->width, p->height};
    return result_of(body(&same));
  });
}

template <class Body>
CUresult with_host(const char* function, const CUDA_HOST_NODE_PARAMS* p, Body&& body) {
  return call(function, Needs::kDriver, [&] {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaHostNodeParams same{p->fn, p->userData};
    return result_of(body(&same));
  });
}

// Runs `body(parameters in the runtime's structure)` for nodes of any type.
template <class Body>
CUresult with_any(const char* function, CUgraphNodeParams* p, Body&& body) {
  return locked(function, Needs::kContext, [&](Runtime& r, Device& d) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaGraphNodeParams same{};
    KernelParameters kernel;
    same.type = static_cast<cudaGraphNodeType>(p->type);
    switch (p->type) {
      case CU_GRAPH_NODE_TYPE_KERNEL: {
        if (const CUresult read = read_kernel(
                r, d, reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS*>(&p->kernel), &kernel);
            read != CUDA_SUCCESS)
          return read;
        const cudaKernelNodeParams& k = kernel.same;
        same.kernel.func = k.func;
        same.kernel.gridDim = k.gridDim;
        same.kernel.blockDim = k.blockDim;
        same.kernel.sharedMemBytes = k.sharedMemBytes;
        same.kernel.kernelParams = k.kernelParams;
        break;
      }
      case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (const CUresult read = box_of(p->memcpy.copyParams, &same.memcpy.copyParams);
            read != CUDA_SUCCESS)
          return read;
        break;
      case CU_GRAPH_NODE_TYPE_MEMSET:
        same.memset.dst = pointer(p->memset.dst);
        same.memset.pitch = p->memset.pitch;
        same.memset.value = p->memset.value;
        same.memset.elementSize = p->memset.elementSize;
        same.memset.width = p->memset.width;
        same.memset.height = p->memset.height;
        break;
      case CU_GRAPH_NODE_TYPE_HOST:
        same.host.fn = p->host.fn;
        same.host.userData = p->host.userData;
        break;
      case CU_GRAPH_NODE_TYPE_GRAPH:
        same.graph.graph = p->graph.graph;
        same.graph.ownership = static_cast<cudaGraphChildGraphNodeOwnership>(p->graph.ownership);
        break;
      case CU_GRAPH_NODE_TYPE_EMPTY: break;
      case CU_GRAPH_NODE_TYPE_WAIT_EVENT: same.eventWait.event = p->eventWait.event; break;
      case CU_GRAPH_NODE_TYPE_EVENT_RECORD: same.eventRecord.event = p->eventRecord.event; break;
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        same.alloc.poolProps = reinterpret_cast<const cudaMemPoolProps&>(p->alloc.poolProps);
        same.alloc.accessDescs = reinterpret_cast<const cudaMemAccessDesc*>(p->alloc.accessDescs);
        same.alloc.accessDescCount = p->alloc.accessDescCount;
        same.alloc.bytesize = p->alloc.bytesize;
        break;
      case CU_GRAPH_NODE_TYPE_MEM_FREE: same.free.dptr = pointer(p->free.dptr); break;
      case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        if (p->conditional.ctx == nullptr) {
          r.explain(function, "a conditional node needs its context (CUgraphNodeParams, ctx)");
          return CUDA_ERROR_INVALID_CONTEXT;
        }
        same.conditional.handle = p->conditional.handle;
        same.conditional.type = static_cast<cudaGraphConditionalNodeType>(p->conditional.type);
        same.conditional.size = p->conditional.size;
        break;
      default:
        r.explain(function, "nodes of this type are not supported by the simulated GPU");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    const CUresult result = result_of(body(&same));
    if (result == CUDA_SUCCESS && p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
      p->alloc.dptr = reinterpret_cast<CUdeviceptr>(same.alloc.dptr);
    if (result == CUDA_SUCCESS && p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
      p->conditional.phGraph_out = same.conditional.phGraph_out;
    return result;
  });
}

}  // namespace

extern "C" {

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                        const CUgraphEdgeData* data, std::size_t count, CUgraphNodeParams* p) {
  return with_any("cuGraphAddNode", p, [&](auto* same) {
    return cudaGraphAddNode(node, graph, from, reinterpret_cast<const cudaGraphEdgeData*>(data),
                            count, same);
  });
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  return with_any("cuGraphNodeSetParams", p,
                  [&](auto* same) { return cudaGraphNodeSetParams(node, same); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
  return with_any("cuGraphExecNodeSetParams", p,
                  [&](auto* same) { return cudaGraphExecNodeSetParams(exec, node, same); });
}

// ---- kernels

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
  return with_kernel("cuGraphAddKernelNode", p, [&](const auto* same) {
    return cudaGraphAddKernelNode(node, graph, from, count, same);
  });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) {
  return forward("cuGraphKernelNodeGetParams", [&] {
    cudaKernelNodeParams same;
    if (p == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphKernelNodeGetParams(node, &same);
    if (error == cudaSuccess) write_kernel(same, p);
    return error;
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p != nullptr && p->func == nullptr && p->kern == nullptr) {
    return call("cuGraphKernelNodeSetParams", Needs::kContext,
                [] { return CUDA_ERROR_INVALID_VALUE; });
  }
  return with_kernel("cuGraphKernelNodeSetParams", p,
                     [&](const auto* same) { return cudaGraphKernelNodeSetParams(node, same); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* p) {
  return with_kernel("cuGraphExecKernelNodeSetParams", p, [&](const auto* same) {
    return cudaGraphExecKernelNodeSetParams(exec, node, same);
  });
}

// ---- copies and fills; of a context only the device counts, which the addresses say

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              std::size_t count, const CUDA_MEMCPY3D* p, CUcontext /*context*/) {
  return with_copy("cuGraphAddMemcpyNode", p, [&](const auto* box) {
    return cudaGraphAddMemcpyNode(node, graph, from, count, box);
  });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) {
  return locked("cuGraphMemcpyNodeGetParams", Needs::kDriver, [&](Runtime&, Device&) {
    cudaMemcpy3DParms box;
    if (p == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphMemcpyNodeGetParams(node, &box);
    if (error == cudaSuccess) describe_box(box, p);
    return error;
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return with_copy("cuGraphMemcpyNodeSetParams", p,
                   [&](const auto* box) { return cudaGraphMemcpyNodeSetParams(node, box); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* p,
                                        CUcontext /*context*/) {
  return with_copy("cuGraphExecMemcpyNodeSetParams", p, [&](const auto* box) {
    return cudaGraphExecMemcpyNodeSetParams(exec, node, box);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* p,
                              CUcontext /*context*/) {
  return with_fill("cuGraphAddMemsetNode", p, [&](const auto* same) {
    return cudaGraphAddMemsetNode(node, graph, from, count, same);
  });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  return forward("cuGraphMemsetNodeGetParams", [&] {
    cudaMemsetParams same;
    if (p == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphMemsetNodeGetParams(node, &same);
    if (error == cudaSuccess)
      *p = {reinterpret_cast<CUdeviceptr>(same.dst),
            same.pitch,
            same.value,
            same.elementSize,
            same.width,
            same.height};
    return error;
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  return with_fill("cuGraphMemsetNodeSetParams", p,
                   [&](const auto* same) { return cudaGraphMemsetNodeSetParams(node, same); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* p, CUcontext /*context*/) {
  return with_fill("cuGraphExecMemsetNodeSetParams", p, [&](const auto* same) {
    return cudaGraphExecMemsetNodeSetParams(exec, node, same);
  });
}

// ---- the others

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* p) {
  return with_host("cuGraphAddHostNode", p, [&](const auto* same) {
    return cudaGraphAddHostNode(node, graph, from, count, same);
  });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* p) {
  return forward("cuGraphHostNodeGetParams", [&] {
    cudaHostNodeParams same;
    if (p == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphHostNodeGetParams(node, &same);
    if (error == cudaSuccess) *p = {same.fn, same.userData};
    return error;
  });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return with_host("cuGraphHostNodeSetParams", p,
                   [&](const auto* same) { return cudaGraphHostNodeSetParams(node, same); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* p) {
  return with_host("cuGraphExecHostNodeSetParams", p, [&](const auto* same) {
    return cudaGraphExecHostNodeSetParams(exec, node, same);
  });
}

}  // extern "C"
