// Calls about graphs: nodes, executable graphs, and captures.
#include "calls.h"

namespace lockstep::streams {
namespace {

__device__ char of_a_node[kSmall];
__global__ void node_kernel(char* to) { *to = 1; }
void CUDART_CB node_function(void*) {}

// A graph with one node of each kind. No call executes it.
struct Graph {
  explicit Graph(Situation& s) : s(s) {
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&inner, 0);
    cudaGraphNode_t within = nullptr;
    cudaGraphAddEmptyNode(&within, inner, nullptr, 0);
    kernel.func = reinterpret_cast<void*>(node_kernel);
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    copy.srcPtr = make_cudaPitchedPtr(s.device, kSmall, kSmall, 1);
    copy.dstPtr = make_cudaPitchedPtr(s.second, kSmall, kSmall, 1);
    copy.extent = make_cudaExtent(kSmall, 1, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    fill.dst = s.device;
    fill.elementSize = 1;
    fill.width = kSmall;
    fill.height = 1;
    host.fn = node_function;
    add();
  }
  void add() {
    cudaGraphAddEmptyNode(&empty, graph, nullptr, 0);
    cudaGraphAddKernelNode(&kernel_node, graph, &empty, 1, &kernel);
    cudaGraphAddMemcpyNode(&copy_node, graph, nullptr, 0, &copy);
    cudaGraphAddMemcpyNode1D(&line_node, graph, nullptr, 0, s.second, s.device, kSmall,
                             cudaMemcpyDeviceToDevice);
    cudaGraphAddMemcpyNodeToSymbol(&to_node, graph, nullptr, 0, of_a_node, s.device, kSmall, 0,
                                   cudaMemcpyDeviceToDevice);
    cudaGraphAddMemcpyNodeFromSymbol(&from_node, graph, nullptr, 0, s.device, of_a_node, kSmall, 0,
                                     cudaMemcpyDeviceToDevice);
    cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill);
    cudaGraphAddHostNode(&host_node, graph, nullptr, 0, &host);
    cudaGraphAddEventRecordNode(&record_node, graph, nullptr, 0, s.past);
    cudaGraphAddEventWaitNode(&wait_node, graph, nullptr, 0, s.past);
    cudaGraphAddChildGraphNode(&child_node, graph, nullptr, 0, inner);
    cudaGraphAddDependencies(graph, &copy_node, &fill_node, nullptr, 1);
  }
  // A node's parameters, for cudaGraphNodeSetParams.
  cudaGraphNodeParams parameters() const {
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeMemset;
    p.memset.dst = s.second;
    p.memset.elementSize = 1;
    p.memset.width = kSmall;
    p.memset.height = 1;
    return p;
  }
  Situation& s;
  cudaGraph_t graph = nullptr, inner = nullptr;
  cudaGraphNode_t empty = nullptr, kernel_node = nullptr, copy_node = nullptr, line_node = nullptr,
                  to_node = nullptr, from_node = nullptr, fill_node = nullptr, host_node = nullptr,
                  record_node = nullptr, wait_node = nullptr, child_node = nullptr;
  void* pointer = s.device;
  void* arguments[1] = {&pointer};
  cudaKernelNodeParams kernel = {};
  cudaMemcpy3DParms copy = {};
  cudaMemsetParams fill = {};
  cudaHostNodeParams host = {};
};

cudaGraphExec_t executable_of(cudaGraph_t graph) {
  cudaGraphExec_t made = nullptr;
  cudaGraphInstantiate(&made, graph, 0);
  return made;
}

// An executable graph and its graph.
struct Both {
  Graph* of;
  cudaGraphExec_t executable;
};
Both both(Situation& s) {
  auto* const g = new Graph(s);
  return {g, executable_of(g->graph)};
}

cudaMemAllocNodeParams allocation() {
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = kSmall;
  return p;
}
// Memory allocated by a graph.
void* graph_memory(Situation& s) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams p = allocation();
  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p);
  cudaGraphLaunch(executable_of(graph), s.idle);
  cudaStreamSynchronize(s.idle);
  return p.dptr;
}
// Adds a conditional node with an empty body.
void add_condition(cudaGraph_t graph) {
  cudaGraphConditionalHandle handle;
  cudaGraphNode_t node = nullptr;
  cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 1;
  cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p);
}
cudaGraphExec_t with_condition() {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  add_condition(graph);
  return executable_of(graph);
}

}  // namespace

std::vector<Call> graph_calls() {
  return {
    CALL_WITH("cudaFree of memory of a graph", graph_memory(s), cudaFree(x)),
        CALL_WITH("cudaFreeAsync of memory of a graph, idle stream", graph_memory(s),
                  cudaFreeAsync(x, s.idle)),
        CALL_WITH("cudaGraphLaunch of a conditional node, idle stream", with_condition(),
                  cudaGraphLaunch(x, s.idle)),
        CALL_WITH("cudaGraphConditionalHandleCreate, cudaGraphAddNode", new Graph(s),
                  add_condition(x->graph)),
        CALL_WITH(
            "cudaGraphAddMemAllocNode, cudaGraphMemAllocNodeGetParams, "
            "cudaGraphAddMemFreeNode, cudaGraphMemFreeNodeGetParams",
            new Graph(s), cudaGraphNode_t node = nullptr;
            void* p = nullptr; cudaMemAllocNodeParams a = allocation();
            cudaGraphAddMemAllocNode(&node, x->graph, nullptr, 0, &a);
            cudaGraphMemAllocNodeGetParams(node, &a);
            cudaGraphAddMemFreeNode(&node, x->graph, &node, 1, a.dptr);
            cudaGraphMemFreeNodeGetParams(node, &p)),
        CALL("cudaDeviceGetGraphMemAttribute, cudaDeviceSetGraphMemAttribute", size_t n = 0;
             cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &n); n = 0;
             cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &n)),
        CALL("cudaDeviceGraphMemTrim", cudaDeviceGraphMemTrim(0)),
        CALL(
            "cudaGraphCreate, cudaGraphAddEmptyNode, cudaGraphAddKernelNode, "
            "cudaGraphAddMemcpyNode, cudaGraphAddMemcpyNode1D, cudaGraphAddMemcpyNodeToSymbol, "
            "cudaGraphAddMemcpyNodeFromSymbol, cudaGraphAddMemsetNode, cudaGraphAddHostNode, "
            "cudaGraphAddEventRecordNode, cudaGraphAddEventWaitNode, cudaGraphAddChildGraphNode, "
            "cudaGraphAddDependencies",
            Graph g(s)),
        CALL_WITH(
            "cudaGraphKernelNodeSetParams, cudaGraphKernelNodeSetAttribute, "
            "cudaGraphKernelNodeCopyAttributes, cudaGraphMemcpyNodeSetParams, "
            "cudaGraphMemcpyNodeSetParams1D, cudaGraphMemcpyNodeSetParamsToSymbol, "
            "cudaGraphMemcpyNodeSetParamsFromSymbol, cudaGraphMemsetNodeSetParams, "
            "cudaGraphHostNodeSetParams, cudaGraphEventRecordNodeSetEvent, "
            "cudaGraphEventWaitNodeSetEvent, cudaGraphNodeSetParams",
            new Graph(s), cudaKernelNodeAttrValue value = {};
            value.priority = -1; cudaGraphNodeParams p = x->parameters();
            cudaGraphKernelNodeSetParams(x->kernel_node, &x->kernel);
            cudaGraphKernelNodeSetAttribute(x->kernel_node, cudaLaunchAttributePriority, &value);
            cudaGraphKernelNodeCopyAttributes(x->kernel_node, x->kernel_node);
            cudaGraphMemcpyNodeSetParams(x->copy_node, &x->copy); cudaGraphMemcpyNodeSetParams1D(
                x->line_node, s.device, s.second, kSmall, cudaMemcpyDeviceToDevice);
            cudaGraphMemcpyNodeSetParamsToSymbol(x->to_node, of_a_node, s.second, kSmall, 0,
                                                 cudaMemcpyDeviceToDevice);
            cudaGraphMemcpyNodeSetParamsFromSymbol(x->from_node, s.second, of_a_node, kSmall, 0,
                                                   cudaMemcpyDeviceToDevice);
            cudaGraphMemsetNodeSetParams(x->fill_node, &x->fill);
            cudaGraphHostNodeSetParams(x->host_node, &x->host);
            cudaGraphEventRecordNodeSetEvent(x->record_node, s.behind);
            cudaGraphEventWaitNodeSetEvent(x->wait_node, s.behind);
            cudaGraphNodeSetParams(x->fill_node, &p)),
        CALL_WITH(
            "cudaGraphKernelNodeGetParams, cudaGraphKernelNodeGetAttribute, "
            "cudaGraphMemcpyNodeGetParams, cudaGraphMemsetNodeGetParams, "
            "cudaGraphHostNodeGetParams, cudaGraphEventRecordNodeGetEvent, "
            "cudaGraphEventWaitNodeGetEvent, cudaGraphChildGraphNodeGetGraph, "
            "cudaGraphNodeGetType, cudaGraphNodeGetDependencies, "
            "cudaGraphNodeGetDependentNodes, cudaGraphGetNodes, cudaGraphGetRootNodes, "
            "cudaGraphGetEdges, cudaGraphDebugDotPrint",
            new Graph(s), cudaKernelNodeParams kernel;
            cudaKernelNodeAttrValue value; cudaMemcpy3DParms copy; cudaMemsetParams fill;
            cudaHostNodeParams host; cudaEvent_t event; cudaGraph_t graph; cudaGraphNodeType type;
            size_t n = 0; cudaGraphKernelNodeGetParams(x->kernel_node, &kernel);
            cudaGraphKernelNodeGetAttribute(x->kernel_node, cudaLaunchAttributePriority, &value);
            cudaGraphMemcpyNodeGetParams(x->copy_node, &copy);
            cudaGraphMemsetNodeGetParams(x->fill_node, &fill);
            cudaGraphHostNodeGetParams(x->host_node, &host);
            cudaGraphEventRecordNodeGetEvent(x->record_node, &event);
            cudaGraphEventWaitNodeGetEvent(x->wait_node, &event);
            cudaGraphChildGraphNodeGetGraph(x->child_node, &graph);
            cudaGraphNodeGetType(x->copy_node, &type);
            cudaGraphNodeGetDependencies(x->fill_node, nullptr, nullptr, &n);
            cudaGraphNodeGetDependentNodes(x->copy_node, nullptr, nullptr, &n);
            cudaGraphGetNodes(x->graph, nullptr, &n); cudaGraphGetRootNodes(x->graph, nullptr, &n);
            cudaGraphGetEdges(x->graph, nullptr, nullptr, nullptr, &n);
            cudaGraphDebugDotPrint(x->graph, "/dev/null", 0)),
        CALL_WITH(
            "cudaGraphClone, cudaGraphNodeFindInClone, cudaGraphRemoveDependencies, "
            "cudaGraphDestroyNode, cudaGraphDestroy",
            new Graph(s), cudaGraph_t clone = nullptr;
            cudaGraphNode_t node = nullptr; cudaGraphClone(&clone, x->graph);
            cudaGraphNodeFindInClone(&node, x->fill_node, clone);
            cudaGraphRemoveDependencies(x->graph, &x->copy_node, &x->fill_node, nullptr, 1);
            cudaGraphDestroyNode(x->fill_node); cudaGraphDestroy(clone)),
        CALL_WITH(
            "cudaUserObjectCreate, cudaUserObjectRetain, cudaUserObjectRelease, "
            "cudaGraphRetainUserObject, cudaGraphReleaseUserObject",
            new Graph(s), cudaUserObject_t object = nullptr;
            cudaUserObjectCreate(&object, nullptr, node_function, 1,
                                 cudaUserObjectNoDestructorSync);
            cudaUserObjectRetain(object, 1); cudaUserObjectRelease(object, 1);
            cudaGraphRetainUserObject(x->graph, object, 1, cudaGraphUserObjectMove);
            cudaGraphReleaseUserObject(x->graph, object, 1)),
        CALL_WITH(
            "cudaGraphInstantiateWithFlags, cudaGraphInstantiateWithParams, "
            "cudaGraphExecGetFlags",
            new Graph(s), cudaGraphExec_t e;
            cudaGraphInstantiateParams p = {}; unsigned long long flags;
            cudaGraphInstantiateWithFlags(&e, x->graph, 0); cudaGraphExecGetFlags(e, &flags);
            cudaGraphInstantiateWithParams(&e, x->graph, &p)),
        CALL_WITH("cudaGraphInstantiateWithParams, and the upload to an idle stream", new Graph(s),
                  cudaGraphExec_t e;
                  cudaGraphInstantiateParams p = {}; p.flags = cudaGraphInstantiateFlagUpload;
                  p.uploadStream = s.idle; cudaGraphInstantiateWithParams(&e, x->graph, &p)),
        CALL_WITH(
            "cudaGraphExecKernelNodeSetParams, cudaGraphExecMemcpyNodeSetParams, "
            "cudaGraphExecMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParamsToSymbol, "
            "cudaGraphExecMemcpyNodeSetParamsFromSymbol, cudaGraphExecMemsetNodeSetParams, "
            "cudaGraphExecHostNodeSetParams, cudaGraphExecEventRecordNodeSetEvent, "
            "cudaGraphExecEventWaitNodeSetEvent, cudaGraphExecChildGraphNodeSetParams, "
            "cudaGraphExecNodeSetParams, cudaGraphNodeSetEnabled, cudaGraphNodeGetEnabled, "
            "cudaGraphExecUpdate",
            both(s), const Graph& g = *x.of;
            cudaGraphExec_t e = x.executable; cudaGraphNodeParams p = g.parameters();
            unsigned enabled = 0; cudaGraphExecUpdateResultInfo result;
            cudaGraphExecKernelNodeSetParams(e, g.kernel_node, &g.kernel);
            cudaGraphExecMemcpyNodeSetParams(e, g.copy_node, &g.copy);
            cudaGraphExecMemcpyNodeSetParams1D(e, g.line_node, s.second, s.device, kSmall,
                                               cudaMemcpyDeviceToDevice);
            cudaGraphExecMemcpyNodeSetParamsToSymbol(e, g.to_node, of_a_node, s.device, kSmall, 0,
                                                     cudaMemcpyDeviceToDevice);
            cudaGraphExecMemcpyNodeSetParamsFromSymbol(e, g.from_node, s.device, of_a_node, kSmall,
                                                       0, cudaMemcpyDeviceToDevice);
            cudaGraphExecMemsetNodeSetParams(e, g.fill_node, &g.fill);
            cudaGraphExecHostNodeSetParams(e, g.host_node, &g.host);
            cudaGraphExecEventRecordNodeSetEvent(e, g.record_node, s.behind);
            cudaGraphExecEventWaitNodeSetEvent(e, g.wait_node, s.behind);
            cudaGraphExecChildGraphNodeSetParams(e, g.child_node, g.inner);
            cudaGraphExecNodeSetParams(e, g.fill_node, &p);
            cudaGraphNodeSetEnabled(e, g.fill_node, 0);
            cudaGraphNodeGetEnabled(e, g.fill_node, &enabled);
            cudaGraphExecUpdate(e, g.graph, &result)),
        CALL(
            "cudaStreamBeginCapture, cudaStreamIsCapturing, cudaStreamGetCaptureInfo, "
            "cudaStreamUpdateCaptureDependencies, cudaMallocAsync, cudaFreeAsync, "
            "cudaStreamEndCapture, idle stream",
            cudaGraph_t graph = nullptr;
            void* p = nullptr; cudaStreamCaptureStatus status;
            cudaStreamBeginCapture(s.idle, cudaStreamCaptureModeThreadLocal);
            cudaStreamIsCapturing(s.idle, &status);
            cudaStreamGetCaptureInfo(s.idle, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
            cudaStreamUpdateCaptureDependencies(s.idle, nullptr, nullptr, 0,
                                                cudaStreamSetCaptureDependencies);
            cudaMallocAsync(&p, kSmall, s.idle); cudaFreeAsync(p, s.idle);
            cudaStreamEndCapture(s.idle, &graph)),
        CALL_WITH(
            "cudaStreamBeginCaptureToGraph, cudaThreadExchangeStreamCaptureMode, "
            "cudaStreamEndCapture, idle stream",
            new Graph(s), cudaGraph_t graph = nullptr;
            cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
            cudaThreadExchangeStreamCaptureMode(&mode); cudaThreadExchangeStreamCaptureMode(&mode);
            cudaStreamBeginCaptureToGraph(s.idle, x->graph, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeThreadLocal);
            cudaStreamEndCapture(s.idle, &graph)),
  };
}

}  // namespace lockstep::streams
