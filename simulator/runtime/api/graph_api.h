// Shared parts of the API functions about graphs: looking up handles, and returning lists to the
// program.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "simulator/runtime/graph/graph.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Runs the body of a function about a graph. Graphs are host objects, so no kernel's error is
// returned. The device's context is created, as on an H100.
template <class Body>
cudaError_t about_graph(const char* function, cudaGraph_t handle, Body&& body) {
  return api(function, Reach::kContext, [&](Runtime& r, Device& d) -> cudaError_t {
    Graph* graph = graphs().find(handle);
    return graph == nullptr ? cudaErrorInvalidValue : body(r, d, *graph);
  });
}
template <class Body>
cudaError_t about_node(const char* function, cudaGraphNode_t handle, Body&& body) {
  return api(function, Reach::kContext, [&](Runtime& r, Device&) -> cudaError_t {
    GraphNode* node = graphs().find(handle);
    return node == nullptr ? cudaErrorInvalidValue : body(r, *node);
  });
}
// The step of an executable graph, or of a conditional node's body in it, that was made from the
// node; nullptr if there is none.
inline GraphExec::Step* find_step(GraphExec& exec, const GraphNode& node) {
  for (GraphExec::Step& step : exec.steps) {
    if (step.origin == node.origin && step.graph == node.graph->id) return &step;
    for (const auto& body : step.bodies) {
      if (GraphExec::Step* const found = find_step(*body, node)) return found;
    }
  }
  return nullptr;
}
// Runs the body with the step of an instantiated graph that was made from a node.
template <class Body>
cudaError_t about_step(const char* function, cudaGraphExec_t exec_handle,
                       cudaGraphNode_t node_handle, Body&& body) {
  return api(function, Reach::kContext, [&](Runtime& r, Device&) -> cudaError_t {
    const auto exec = graphs().find(exec_handle);
    const GraphNode* node = graphs().find(node_handle);
    if (!exec || node == nullptr) return cudaErrorInvalidValue;
    GraphExec::Step* const step = find_step(*exec, *node);
    return step == nullptr ? cudaErrorInvalidValue : body(r, *node, *step);
  });
}

inline cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t handle_of(const GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node));
}

// Looks up a list of node handles. Returns false if they are not all different nodes of `graph`.
inline bool nodes_of(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count,
                     std::vector<GraphNode*>* nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode* node = graphs().find(handles[i]);
    if (node == nullptr || node->graph != &graph ||
        std::find(nodes->begin(), nodes->end(), node) != nodes->end())
      return false;
    nodes->push_back(node);
  }
  return true;
}

// Whether all edges are plain dependencies. Only these are simulated; they are stricter than the
// other kinds.
inline bool plain_edges(const cudaGraphEdgeData* data, std::size_t count) {
  return data == nullptr || std::all_of(data, data + count, [](const cudaGraphEdgeData& e) {
           return e.from_port == 0 && e.to_port == 0 && e.type == 0;
         });
}

// Returns a list as CUDA does: only its length if `array` is nullptr; otherwise at most *count
// elements, and nulls in the rest of the array.
inline cudaError_t give(const std::vector<const GraphNode*>& nodes, cudaGraphNode_t* array,
                        std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (array != nullptr) {
    for (std::size_t i = 0; i < *count; ++i)
      array[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return cudaSuccess;
}

}  // namespace lockstep::runtime
