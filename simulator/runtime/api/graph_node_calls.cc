// Nodes of graphs by what they do: adding them, asking for and changing their parameters.
#include <cstring>
#include <type_traits>

#include "simulator/runtime/api/graph_api.h"
#include "simulator/runtime/graph/node_work.h"
#include "simulator/runtime/state/access_policy.h"
#include "simulator/runtime/state/interceptor.h"

using namespace lockstep::runtime;

namespace {

// Adds a node with the work that `make(runtime, device, &work)` makes, or make(runtime, device,
// graph, &work).
template <class Make>
cudaError_t add(const char* function, cudaGraphNode_t* node, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, size_t count, Make&& make) {
  return about_graph(function, graph, [&](Runtime& r, Device& d, Graph& g) -> cudaError_t {
    std::vector<GraphNode*> after;
    if (node == nullptr || !nodes_of(g, dependencies, count, &after)) return cudaErrorInvalidValue;
    Work work;
    cudaError_t error = cudaSuccess;
    if constexpr (std::is_invocable_v<Make, Runtime&, Device&, Graph&, Work*>) {
      error = make(r, d, g, &work);
    } else {
      error = make(r, d, &work);
    }
    if (error != cudaSuccess) return error;
    if (!after.empty() && is_changed(r, function, "edge-removed")) after.erase(after.begin());
    *node = handle_of(graphs().add(g, std::move(work), d.ordinal, after));
    return cudaSuccess;
  });
}

template <class Make>
cudaError_t set(const char* function, cudaGraphNode_t node, Make&& make) {
  return about_node(function, node, [&](Runtime& r, GraphNode& n) -> cudaError_t {
    Work work;
    if (const cudaError_t error = make(r, r.devices[static_cast<std::size_t>(n.device)], n, &work);
        error != cudaSuccess)
      return error;
    return set_work(n, std::move(work));
  });
}

// Asks a node of the type `Kind` for its parameters.
template <class Kind, class Answer>
cudaError_t get(const char* function, cudaGraphNode_t node, const void* result, Answer&& answer) {
  return about_node(function, node, [&](Runtime& r, GraphNode& n) -> cudaError_t {
    const Kind* work = std::get_if<Kind>(&n.work);
    return work == nullptr || result == nullptr ? cudaErrorInvalidValue : answer(r, n, *work);
  });
}

bool is_attribute(cudaLaunchAttributeID id) {
  return id >= cudaLaunchAttributeAccessPolicyWindow &&
         id <= cudaLaunchAttributePreferredSharedMemoryCarveout;
}

cudaError_t apply_attribute(Runtime& r, KernelWork& work, cudaLaunchAttributeID id,
                            const cudaLaunchAttributeValue& value) {
  if (id == cudaLaunchAttributeAccessPolicyWindow) {
    if (const cudaError_t error =
            check_access_policy(r, "cudaGraphKernelNodeSetAttribute", value.accessPolicyWindow);
        error != cudaSuccess)
      return error;
  } else if (id == cudaLaunchAttributeCooperative) {
    work.request.cooperative = value.cooperative != 0;
  } else if (id == cudaLaunchAttributeClusterDimension) {
    work.request.cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
    work.request.has_cluster = true;
  } else if (!is_attribute(id)) {
    return cudaErrorInvalidValue;
  }
  for (cudaLaunchAttribute& a : work.attributes) {
    if (a.id == id) {
      a.val = value;
      return cudaSuccess;
    }
  }
  cudaLaunchAttribute a{};
  a.id = id;
  a.val = value;
  work.attributes.push_back(a);
  return cudaSuccess;
}

}  // namespace

extern "C" {

// ---- adding -------------------------------------------------------------------------------------

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* params) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device& d, Work* work) {
    return kernel_work(r, d, "cudaGraphAddKernelNode", params, work);
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* params) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device&, Work* work) {
    return copy_work(r, "cudaGraphAddMemcpyNode", params, work);
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device&, Work* work) {
    return line_work(r, "cudaGraphAddMemcpyNode1D", to, from, bytes, kind, work);
  });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count,
                                           const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device& d, Work* work) {
    return to_symbol_work(r, d, "cudaGraphAddMemcpyNodeToSymbol", symbol, from, bytes, offset, kind,
                          work);
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count,
                                             void* to, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device& d, Work* work) {
    return from_symbol_work(r, d, "cudaGraphAddMemcpyNodeFromSymbol", to, symbol, bytes, offset,
                            kind, work);
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* params) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device&, Work* work) {
    return fill_work(r, "cudaGraphAddMemsetNode", params, work);
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* params) {
  return add(__func__, node, graph, dependencies, count,
             [&](Runtime&, Device&, Work* work) { return host_work(params, work); });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  if (child == graph) return end_call(cudaErrorInvalidValue);
  return add(__func__, node, graph, dependencies, count, [&](Runtime& r, Device&, Work* work) {
    return child_work(r, "cudaGraphAddChildGraphNode", child, work);
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
  return add(__func__, node, graph, dependencies, count, [&](Runtime&, Device&, Work* work) {
    *work = EmptyWork{};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
  return add(__func__, node, graph, dependencies, count,
             [&](Runtime& r, Device&, Work* work) { return record_work(r, event, work); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
  return add(__func__, node, graph, dependencies, count,
             [&](Runtime& r, Device&, Work* work) { return wait_work(r, event, work); });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* params) {
  return add(__func__, node, graph, dependencies, count,
             [&](Runtime& r, Device&, Graph& g, Work* work) {
               return allocate_work(r, "cudaGraphAddMemAllocNode", g, params, work);
             });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
  return add(__func__, node, graph, dependencies, count,
             [&](Runtime& r, Device&, Graph& g, Work* work) {
               return free_work(r, "cudaGraphAddMemFreeNode", g, pointer, work);
             });
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
                             size_t count, cudaGraphNodeParams* params) {
  if (!plain_edges(data, count)) return end_call(cudaErrorNotSupported);
  return add(__func__, node, graph, dependencies, count,
             [&](Runtime& r, Device& d, Graph& g, Work* work) {
               return any_work(r, d, "cudaGraphAddNode", g, params, work);
             });
}

// ---- asking -------------------------------------------------------------------------------------

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return get<KernelWork>(
      __func__, node, params, [&](Runtime& r, GraphNode& n, const KernelWork& work) -> cudaError_t {
        const KernelEntry* entry = r.modules.find_kernel(work.function);
        const lockstep::engine::Kernel* kernel = nullptr;
        if (entry == nullptr) return unknown_kernel(work.function);
        if (const cudaError_t error = r.modules.get(r, *entry, n.device, &kernel);
            error != cudaSuccess)
          return error;
        n.arguments.clear();
        for (std::size_t i = 0; i < kernel->parameter_sizes().size(); ++i) {
          n.arguments.push_back(const_cast<std::byte*>(work.parameters.data()) +
                                kernel->parameter_offsets()[i]);
        }
        *params = {const_cast<void*>(work.function),
                   work.request.grid,
                   work.request.block,
                   static_cast<unsigned>(work.request.dynamic_shared),
                   n.arguments.empty() ? nullptr : n.arguments.data(),
                   nullptr};
        return cudaSuccess;
      });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return get<CopyWork>(__func__, node, params, [&](Runtime&, GraphNode&, const CopyWork& work) {
    *params = work.box;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return get<FillWork>(__func__, node, params, [&](Runtime&, GraphNode&, const FillWork& work) {
    *params = work.rows;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return get<HostWork>(__func__, node, params, [&](Runtime&, GraphNode&, const HostWork& work) {
    *params = {work.function, work.data};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return get<ChildWork>(__func__, node, graph, [&](Runtime&, GraphNode&, const ChildWork& work) {
    *graph = handle_of(work.graph.get());
    return cudaSuccess;
  });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get<RecordWork>(__func__, node, event, [&](Runtime&, GraphNode&, const RecordWork& work) {
    *event = work.event;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get<WaitWork>(__func__, node, event, [&](Runtime&, GraphNode&, const WaitWork& work) {
    *event = work.event;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return get<AllocateWork>(__func__, node, params,
                           [&](Runtime&, GraphNode&, const AllocateWork& work) {
                             *params = work.parameters;
                             return cudaSuccess;
                           });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return get<FreeWork>(__func__, node, pointer, [&](Runtime&, GraphNode&, const FreeWork& work) {
    *static_cast<void**>(pointer) = work.pointer;
    return cudaSuccess;
  });
}

// ---- changing -----------------------------------------------------------------------------------

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return set(__func__, node, [&](Runtime& r, Device& d, GraphNode&, Work* work) {
    return kernel_work(r, d, "cudaGraphKernelNodeSetParams", params, work);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return set(__func__, node, [&](Runtime& r, Device&, GraphNode&, Work* work) {
    return copy_work(r, "cudaGraphMemcpyNodeSetParams", params, work);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  return set(__func__, node, [&](Runtime& r, Device&, GraphNode&, Work* work) {
    return line_work(r, "cudaGraphMemcpyNodeSetParams1D", to, from, bytes, kind, work);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return set(__func__, node, [&](Runtime& r, Device& d, GraphNode&, Work* work) {
    return to_symbol_work(r, d, "cudaGraphMemcpyNodeSetParamsToSymbol", symbol, from, bytes, offset,
                          kind, work);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return set(__func__, node, [&](Runtime& r, Device& d, GraphNode&, Work* work) {
    return from_symbol_work(r, d, "cudaGraphMemcpyNodeSetParamsFromSymbol", to, symbol, bytes,
                            offset, kind, work);
  });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return set(__func__, node, [&](Runtime& r, Device&, GraphNode&, Work* work) {
    return fill_work(r, "cudaGraphMemsetNodeSetParams", params, work);
  });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return set(__func__, node,
             [&](Runtime&, Device&, GraphNode&, Work* work) { return host_work(params, work); });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set(__func__, node, [&](Runtime& r, Device&, GraphNode&, Work* work) {
    return record_work(r, event, work);
  });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set(__func__, node, [&](Runtime& r, Device&, GraphNode&, Work* work) {
    return wait_work(r, event, work);
  });
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  if (params != nullptr &&
      (params->type == cudaGraphNodeTypeMemAlloc || params->type == cudaGraphNodeTypeMemFree ||
       params->type == cudaGraphNodeTypeConditional)) {
    return end_call(cudaErrorNotSupported);
  }
  return set(__func__, node, [&](Runtime& r, Device& d, GraphNode& n, Work* work) {
    return any_work(r, d, "cudaGraphNodeSetParams", *n.graph, params, work);
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return about_node(__func__, node, [&](Runtime& r, GraphNode& n) -> cudaError_t {
    auto* work = std::get_if<KernelWork>(&n.work);
    return work == nullptr || value == nullptr ? cudaErrorInvalidValue
                                               : apply_attribute(r, *work, id, *value);
  });
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return get<KernelWork>(
      __func__, node, value, [&](Runtime&, GraphNode&, const KernelWork& work) -> cudaError_t {
        if (!is_attribute(id)) return cudaErrorInvalidValue;
        std::memset(value, 0, sizeof *value);
        for (const cudaLaunchAttribute& a : work.attributes) {
          if (a.id != id) continue;
          *value = a.val;
          return cudaSuccess;
        }
        // Of a launch that was captured the request alone says these.
        if (id == cudaLaunchAttributeCooperative)
          value->cooperative = work.request.cooperative ? 1 : 0;
        if (id == cudaLaunchAttributeClusterDimension && work.request.has_cluster) {
          value->clusterDim.x = work.request.cluster.x;
          value->clusterDim.y = work.request.cluster.y;
          value->clusterDim.z = work.request.cluster.z;
        }
        return cudaSuccess;
      });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return get<KernelWork>(
      __func__, from, from, [&](Runtime& r, GraphNode&, const KernelWork& source) -> cudaError_t {
        GraphNode* node = graphs().find(to);
        auto* work = node == nullptr ? nullptr : std::get_if<KernelWork>(&node->work);
        if (work == nullptr) return cudaErrorInvalidValue;
        for (const cudaLaunchAttribute& a : source.attributes)
          apply_attribute(r, *work, a.id, a.val);
        return cudaSuccess;
      });
}

}  // extern "C"
