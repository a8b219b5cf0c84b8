// Graphs: calls that differ from the runtime API's by more than their names (forward.h).
#include "simulator/driver/call.h"

using namespace lockstep::driver;

// Earlier forms, from before edges had data.
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

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return call("cuGraphInstantiate", Needs::kContext,
              [&] { return cudaGraphInstantiateWithFlags(exec, graph, flags); });
}

// Ignores the context: the condition belongs to the current device.
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                        CUcontext /*context*/, unsigned default_value,
                                        unsigned flags) {
  return call("cuGraphConditionalHandleCreate", Needs::kContext, [&] {
    return cudaGraphConditionalHandleCreate(reinterpret_cast<cudaGraphConditionalHandle*>(handle),
                                            graph, default_value, flags);
  });
}

}  // extern "C"
