// Instantiated graphs: making, launching and changing them.
#include <type_traits>

#include "simulator/runtime/api/graph_api.h"
#include "simulator/runtime/api/live_handles.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/conditional.h"
#include "simulator/runtime/graph/node_work.h"
#include "simulator/runtime/state/condition.h"
#include "simulator/runtime/state/per_thread_stream.h"

using namespace lockstep::runtime;

namespace {

// The upload is "only supported by cudaGraphInstantiateWithParams" (driver_types.h): elsewhere its
// flag is none.
unsigned long long without_upload(unsigned long long flags) {
  return (flags & cudaGraphInstantiateFlagUpload) != 0 ? ~0ull : flags;
}

cudaError_t instantiate(const char* function, cudaGraphExec_t* exec, cudaGraph_t graph,
                        unsigned long long flags, cudaGraphInstantiateResult* result) {
  return about_graph(function, graph, [&](Runtime& r, Device&, Graph& g) -> cudaError_t {
    constexpr unsigned long long kKnown =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    *result = cudaGraphInstantiateError;
    if (exec == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_unsafe(r, function); error != cudaSuccess) return error;
    if ((flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0 &&
        (flags & cudaGraphInstantiateFlagDeviceLaunch) != 0)
      return cudaErrorInvalidValue;
    if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
      r.explain(function, "launching graphs from kernels is not supported by the simulated GPU");
      return cudaErrorNotSupported;
    }
    if (graphs().is_of_node(g)) {
      r.explain(function, "the graph belongs to a child node, with which it is executed");
      return cudaErrorNotSupported;
    }
    if ((has_memory_nodes(g) || has_conditional_nodes(g)) && !g.exec.expired()) {
      r.explain(function,
                "a graph that allocates or frees memory, or has conditional nodes, has one "
                "executable graph at a time");
      return cudaErrorNotSupported;
    }
    if (!bodies_are_allowed(g)) {
      r.explain(function,
                "the body of a conditional node has kernels, copies, fills, empty nodes, children "
                "and conditional nodes alone");
      *result = cudaGraphInstantiateNodeOperationNotSupported;
      return cudaErrorInvalidValue;
    }
    auto conditions = conditions_of(g);
    if (std::any_of(conditions.begin(), conditions.end(), [](const auto& c) { return !c->used; })) {
      r.explain(function, "a conditional handle belongs to no conditional node");
      *result = cudaGraphInstantiateConditionalHandleUnused;
      return cudaErrorInvalidValue;
    }
    auto made = Graphs::instantiate(g);
    if (!made) {
      r.explain(function, "the dependencies form a cycle");
      *result = cudaGraphInstantiateInvalidStructure;
      return cudaErrorInvalidValue;
    }
    made->flags = flags & ~cudaGraphInstantiateFlagUseNodePriority;  // as an H200 returns them
    made->conditions = std::move(conditions);
    g.exec = made;
    *exec = graphs().enter(std::move(made));
    ++live_handles();
    *result = cudaGraphInstantiateSuccess;
    return cudaSuccess;
  });
}

// Changes the step of an instantiated graph.
template <class Make>
cudaError_t set(const char* function, cudaGraphExec_t exec, cudaGraphNode_t node, Make&& make) {
  return about_step(
      function, exec, node,
      [&](Runtime& r, const GraphNode& n, GraphExec::Step& step) -> cudaError_t {
        Work work;
        cudaError_t error = cudaSuccess;
        Device& d = r.devices[static_cast<std::size_t>(n.device)];
        if constexpr (std::is_invocable_v<Make, Runtime&, Device&, Graph&, Work*>) {
          error = make(r, d, *n.graph, &work);
        } else {
          error = make(r, d, &work);
        }
        // As an H100 calls it here.
        if (error == cudaErrorInvalidPitchValue) return cudaErrorInvalidValue;
        if (error != cudaSuccess) return error;
        if (auto* kernel = std::get_if<KernelWork>(&work)) {
          if (const auto* now = std::get_if<KernelWork>(&step.work)) {
            kernel->request.cooperative = now->request.cooperative;
            if (now->request.has_cluster) kernel->request.cluster = now->request.cluster;
            kernel->request.has_cluster = kernel->request.has_cluster || now->request.has_cluster;
          }
        }
        if (auto* child = std::get_if<ChildWork>(&work); child != nullptr && step.child) {
          const GraphNode* node_in_error = nullptr;
          return update(*step.child, *child->graph, &node_in_error) == cudaGraphExecUpdateSuccess
                     ? cudaSuccess
                     : cudaErrorInvalidValue;
        }
        return replace_work(step, std::move(work)) ? cudaSuccess : cudaErrorInvalidValue;
      });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  cudaGraphInstantiateResult result;
  return instantiate(__func__, exec, graph, without_upload(flags), &result);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  cudaGraphInstantiateResult result;
  return instantiate(__func__, exec, graph, without_upload(flags), &result);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  if (params == nullptr) return end_call(cudaErrorInvalidValue);
  params->errNode_out = nullptr;
  return instantiate(__func__, exec, graph, params->flags, &params->result_out);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device&) -> cudaError_t {
    const auto found = graphs().find(exec);
    if (!found || flags == nullptr) return cudaErrorInvalidValue;
    *flags = found->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device&) {
    if (!graphs().destroy(exec)) return cudaErrorInvalidValue;
    --live_handles();
    return cudaSuccess;
  });
}

// A host function may destroy the graph: it lives until the call returns.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  std::shared_ptr<GraphExec> found;
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    found = graphs().find(exec);
    if (!found) return cudaErrorInvalidValue;
    if (const cudaError_t refused = refuse_captured(r, "cudaGraphLaunch", *s);
        refused != cudaSuccess)
      return refused;
    if (const cudaError_t refused = check_legacy(r, "cudaGraphLaunch", *s); refused != cudaSuccess)
      return refused;
    ++r.under_way;
    note_operation(r, d, LOCKSTEP_OTHER_WORK, "cudaGraphLaunch", stream, false);
    const cudaError_t error = launch_graph(r, "cudaGraphLaunch", *found, *s);
    // A kernel's error is delivered by the next call, as after any launch.
    return error == d.error && !r.settings.launch_blocking ? cudaSuccess : error;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (r.streams.find_stream(stream, d.ordinal) == nullptr) return cudaErrorInvalidResourceHandle;
    return graphs().find(exec) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return about_graph(__func__, graph, [&](Runtime&, Device&, const Graph& g) -> cudaError_t {
    const auto found = graphs().find(exec);
    if (!found || info == nullptr) return cudaErrorInvalidValue;
    const GraphNode* node = nullptr;
    *info = {update(*found, g, &node), handle_of(node), nullptr};
    return info->result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                      : cudaErrorGraphExecUpdateFailure;
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return about_step(__func__, exec, node,
                    [&](Runtime&, const GraphNode&, GraphExec::Step& step) -> cudaError_t {
                      const auto type = type_of(step.work);
                      if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemset &&
                          type != cudaGraphNodeTypeMemcpy)
                        return cudaErrorInvalidValue;
                      step.enabled = enabled != 0;
                      return cudaSuccess;
                    });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return about_step(__func__, exec, node,
                    [&](Runtime&, const GraphNode&, const GraphExec::Step& step) -> cudaError_t {
                      const auto type = type_of(step.work);
                      if (enabled == nullptr ||
                          (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemset &&
                           type != cudaGraphNodeTypeMemcpy)) {
                        return cudaErrorInvalidValue;
                      }
                      *enabled = step.enabled;
                      return cudaSuccess;
                    });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return set(__func__, exec, node, [&](Runtime& r, Device& d, Work* work) {
    return kernel_work(r, d, "cudaGraphExecKernelNodeSetParams", params, work);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return set(__func__, exec, node, [&](Runtime& r, Device&, Work* work) {
    return copy_work(r, "cudaGraphExecMemcpyNodeSetParams", params, work);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return set(__func__, exec, node, [&](Runtime& r, Device&, Work* work) {
    return line_work(r, "cudaGraphExecMemcpyNodeSetParams1D", to, from, bytes, kind, work);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  return set(__func__, exec, node, [&](Runtime& r, Device& d, Work* work) {
    return to_symbol_work(r, d, "cudaGraphExecMemcpyNodeSetParamsToSymbol", symbol, from, bytes,
                          offset, kind, work);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
  return set(__func__, exec, node, [&](Runtime& r, Device& d, Work* work) {
    return from_symbol_work(r, d, "cudaGraphExecMemcpyNodeSetParamsFromSymbol", to, symbol, bytes,
                            offset, kind, work);
  });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return set(__func__, exec, node, [&](Runtime& r, Device&, Work* work) {
    return fill_work(r, "cudaGraphExecMemsetNodeSetParams", params, work);
  });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return set(__func__, exec, node,
             [&](Runtime&, Device&, Work* work) { return host_work(params, work); });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return set(__func__, exec, node, [&](Runtime& r, Device&, Work* work) {
    return child_work(r, "cudaGraphExecChildGraphNodeSetParams", child, work);
  });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set(__func__, exec, node,
             [&](Runtime& r, Device&, Work* work) { return record_work(r, event, work); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set(__func__, exec, node,
             [&](Runtime& r, Device&, Work* work) { return wait_work(r, event, work); });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* params) {
  if (params != nullptr &&
      (params->type == cudaGraphNodeTypeMemAlloc || params->type == cudaGraphNodeTypeMemFree ||
       params->type == cudaGraphNodeTypeConditional)) {
    return end_call(cudaErrorNotSupported);
  }
  return set(__func__, exec, node, [&](Runtime& r, Device& d, Graph& g, Work* work) {
    return any_work(r, d, "cudaGraphExecNodeSetParams", g, params, work);
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaGraphInstantiateWithParams, _ptsz)
LOCKSTEP_PER_THREAD(cudaGraphLaunch, _ptsz)
LOCKSTEP_PER_THREAD(cudaGraphUpload, _ptsz)
