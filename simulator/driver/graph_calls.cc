// Graphs: their structure, instantiation and launches. Handles, edges and most structures are the
// same in both APIs.
#include "simulator/driver/call.h"

using namespace lockstep::driver;

namespace {

const cudaGraphEdgeData* same(const CUgraphEdgeData* data) {
  static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
  return reinterpret_cast<const cudaGraphEdgeData*>(data);
}
cudaGraphEdgeData* same(CUgraphEdgeData* data) {
  return reinterpret_cast<cudaGraphEdgeData*>(data);
}

}  // namespace

// Variants of one name, before edges had data.
namespace lockstep::driver {
CUresult graph_edges_1(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return forward("cuGraphGetEdges",
                 [&] { return cudaGraphGetEdges(graph, from, to, nullptr, count); });
}
CUresult node_dependencies_1(CUgraphNode node, CUgraphNode* dependencies, std::size_t* count) {
  return forward("cuGraphNodeGetDependencies",
                 [&] { return cudaGraphNodeGetDependencies(node, dependencies, nullptr, count); });
}
CUresult node_dependents_1(CUgraphNode node, CUgraphNode* dependents, std::size_t* count) {
  return forward("cuGraphNodeGetDependentNodes",
                 [&] { return cudaGraphNodeGetDependentNodes(node, dependents, nullptr, count); });
}
CUresult add_dependencies_1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                            std::size_t count) {
  return forward("cuGraphAddDependencies",
                 [&] { return cudaGraphAddDependencies(graph, from, to, nullptr, count); });
}
CUresult remove_dependencies_1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                               std::size_t count) {
  return forward("cuGraphRemoveDependencies",
                 [&] { return cudaGraphRemoveDependencies(graph, from, to, nullptr, count); });
}
}  // namespace lockstep::driver

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return forward("cuGraphCreate", [&] { return cudaGraphCreate(graph, flags); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return forward("cuGraphDestroy", [&] { return cudaGraphDestroy(graph); });
}
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return forward("cuGraphClone", [&] { return cudaGraphClone(clone, graph); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return forward("cuGraphNodeFindInClone",
                 [&] { return cudaGraphNodeFindInClone(node, original, clone); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return forward("cuGraphNodeGetType", [&] {
    return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type));
  });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return forward("cuGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return forward("cuGraphGetRootNodes", [&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         std::size_t* count) {
  return forward("cuGraphGetEdges",
                 [&] { return cudaGraphGetEdges(graph, from, to, same(data), count); });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* dependencies,
                                    CUgraphEdgeData* data, std::size_t* count) {
  return forward("cuGraphNodeGetDependencies", [&] {
    return cudaGraphNodeGetDependencies(node, dependencies, same(data), count);
  });
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* dependents,
                                      CUgraphEdgeData* data, std::size_t* count) {
  return forward("cuGraphNodeGetDependentNodes", [&] {
    return cudaGraphNodeGetDependentNodes(node, dependents, same(data), count);
  });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, std::size_t count) {
  return forward("cuGraphAddDependencies",
                 [&] { return cudaGraphAddDependencies(graph, from, to, same(data), count); });
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
  return forward("cuGraphRemoveDependencies",
                 [&] { return cudaGraphRemoveDependencies(graph, from, to, same(data), count); });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return forward("cuGraphDestroyNode", [&] { return cudaGraphDestroyNode(node); });
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return forward("cuGraphDebugDotPrint",
                 [&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

// ---- instantiation

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return call("cuGraphInstantiate", Needs::kContext,
              [&] { return cudaGraphInstantiateWithFlags(exec, graph, flags); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
  return call("cuGraphInstantiateWithParams", Needs::kContext, [&] {
    return cudaGraphInstantiateWithParams(
        exec, graph, reinterpret_cast<cudaGraphInstantiateParams*>(parameters));
  });
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return forward("cuGraphExecGetFlags", [&] {
    return cudaGraphExecGetFlags(exec, reinterpret_cast<unsigned long long*>(flags));
  });
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* result) {
  static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
  return call("cuGraphExecUpdate", Needs::kContext, [&] {
    return cudaGraphExecUpdate(exec, graph,
                               reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
  });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return forward("cuGraphExecDestroy", [&] { return cudaGraphExecDestroy(exec); });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return forward("cuGraphNodeSetEnabled",
                 [&] { return cudaGraphNodeSetEnabled(exec, node, enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  return forward("cuGraphNodeGetEnabled",
                 [&] { return cudaGraphNodeGetEnabled(exec, node, enabled); });
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return call("cuGraphUpload", Needs::kContext, [&] { return cudaGraphUpload(exec, stream); });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return call("cuGraphLaunch", Needs::kContext, [&] { return cudaGraphLaunch(exec, stream); });
}

// ---- objects that graphs keep

CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned count,
                            unsigned flags) {
  return forward("cuUserObjectCreate",
                 [&] { return cudaUserObjectCreate(object, data, destroy, count, flags); });
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return forward("cuUserObjectRetain", [&] { return cudaUserObjectRetain(object, count); });
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return forward("cuUserObjectRelease", [&] { return cudaUserObjectRelease(object, count); });
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return forward("cuGraphRetainUserObject",
                 [&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return forward("cuGraphReleaseUserObject",
                 [&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

}  // extern "C"
