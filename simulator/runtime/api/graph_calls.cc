// Graphs: making, copying and looking at them; their nodes and edges, whatever the nodes do.
#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "simulator/runtime/api/graph_api.h"
#include "simulator/runtime/graph/conditional.h"
#include "simulator/runtime/state/condition.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/interceptor.h"

using namespace lockstep::runtime;

namespace {

constexpr cudaGraphEdgeData kPlain{};

const char* word_for(cudaGraphNodeType type) {
  if (static_cast<CUgraphNodeType>(type) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
    return "memory operations";
  switch (type) {
    case cudaGraphNodeTypeKernel: return "kernel";
    case cudaGraphNodeTypeMemcpy: return "memcpy";
    case cudaGraphNodeTypeMemset: return "memset";
    case cudaGraphNodeTypeHost: return "host";
    case cudaGraphNodeTypeGraph: return "graph";
    case cudaGraphNodeTypeWaitEvent: return "wait";
    case cudaGraphNodeTypeEventRecord: return "record";
    case cudaGraphNodeTypeMemAlloc: return "allocate";
    case cudaGraphNodeTypeMemFree: return "free";
    case cudaGraphNodeTypeConditional: return "conditional";
    default: return "empty";
  }
}

std::string label(Runtime& r, const GraphNode& node) {
  const auto* kernel = std::get_if<KernelWork>(&node.work);
  const KernelEntry* entry = kernel == nullptr ? nullptr : r.modules.find_kernel(kernel->function);
  return entry == nullptr ? word_for(type_of(node.work)) : demangled(entry->name);
}

// Whether the graph has nodes that forbid copies of it, and the loss of nodes and edges
// (cudaGraphAddMemAllocNode).
bool keeps_shape(Runtime& r, const char* function, const Graph& graph) {
  if (!has_memory_nodes(graph)) return false;
  r.explain(function, "not possible for a graph that allocates or frees memory");
  return true;
}

template <class Change>
cudaError_t change_edges(const char* function, cudaGraph_t graph, const cudaGraphNode_t* from,
                         const cudaGraphNode_t* to, const cudaGraphEdgeData* data, size_t count,
                         Change&& change) {
  return about_graph(function, graph, [&](Runtime& r, Device&, Graph& g) -> cudaError_t {
    if (count != 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
    if (!plain_edges(data, count)) {
      r.explain(function,
                "edges with ports (programmatic launches) are not supported by the simulated GPU");
      return cudaErrorNotSupported;
    }
    const bool connects = function == std::string_view("cudaGraphAddDependencies");
    if (!connects && count != 0 && keeps_shape(r, function, g)) return cudaErrorNotSupported;
    const size_t first = connects && count != 0 && is_changed(r, function, "edge-removed") ? 1 : 0;
    for (size_t i = first; i < count; ++i) {
      GraphNode *a = graphs().find(from[i]), *b = graphs().find(to[i]);
      if (a == nullptr || b == nullptr || a == b || a->graph != &g || b->graph != &g ||
          !change(*a, *b))
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

cudaError_t give_neighbours(const char* function, cudaGraphNode_t node,
                            std::vector<GraphNode*> GraphNode::*list, cudaGraphNode_t* nodes,
                            cudaGraphEdgeData* data, size_t* count) {
  return about_node(function, node, [&](Runtime&, const GraphNode& n) {
    const cudaError_t error = give({(n.*list).begin(), (n.*list).end()}, nodes, count);
    if (error == cudaSuccess && nodes != nullptr && data != nullptr)
      std::fill_n(data, *count, kPlain);
    return error;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return api(__func__, Reach::kContext, [&](Runtime&, Device&) -> cudaError_t {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = handle_of(graphs().create());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  return about_graph(__func__, graph, [&](Runtime& r, Device& d, Graph& g) -> cudaError_t {
    if (handle == nullptr || (flags & ~cudaGraphCondAssignDefault) != 0)
      return cudaErrorInvalidValue;
    auto made = make_condition(r, d.ordinal, default_value, flags != 0);
    if (!made) return cudaErrorMemoryAllocation;
    *handle = made->handle();
    g.conditions.push_back(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return about_graph(__func__, graph, [](Runtime&, Device&, Graph& g) {
    return graphs().destroy(&g) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return about_graph(__func__, graph, [&](Runtime& r, Device&, const Graph& g) -> cudaError_t {
    if (clone == nullptr) return cudaErrorInvalidValue;
    if (keeps_shape(r, "cudaGraphClone", g)) return cudaErrorNotSupported;
    if (has_conditional_nodes(g)) {
      r.explain("cudaGraphClone", "a graph with conditional nodes cannot be cloned");
      return cudaErrorNotSupported;
    }
    *clone = handle_of(graphs().clone(g));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return about_graph(__func__, clone, [&](Runtime&, Device&, const Graph& g) -> cudaError_t {
    const GraphNode* node = graphs().find(original);
    if (found == nullptr || node == nullptr) return cudaErrorInvalidValue;
    for (const auto& candidate : g.nodes) {
      if (candidate->origin != node->origin) continue;
      *found = handle_of(candidate.get());
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return about_graph(__func__, graph, [&](Runtime&, Device&, const Graph& g) {
    std::vector<const GraphNode*> all;
    for (const auto& node : g.nodes) all.push_back(node.get());
    return give(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return about_graph(__func__, graph, [&](Runtime&, Device&, const Graph& g) {
    std::vector<const GraphNode*> roots;
    for (const auto& node : g.nodes) {
      if (node->from.empty()) roots.push_back(node.get());
    }
    std::reverse(roots.begin(), roots.end());  // as an H100's driver has them; no page says it
    return give(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return about_graph(__func__, graph, [&](Runtime&, Device&, const Graph& g) -> cudaError_t {
    if ((from == nullptr) != (to == nullptr) || count == nullptr) return cudaErrorInvalidValue;
    std::vector<const GraphNode*> froms, tos;
    for (const auto& node : g.nodes) {
      for (const GraphNode* after : node->to) {
        froms.push_back(node.get());
        tos.push_back(after);
      }
    }
    size_t room = *count;
    give(froms, from, &room);
    const cudaError_t error = give(tos, to, count);
    if (from != nullptr && data != nullptr) std::fill_n(data, *count, kPlain);
    return error;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, size_t* count) {
  return give_neighbours(__func__, node, &GraphNode::from, nodes, data, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, size_t* count) {
  return give_neighbours(__func__, node, &GraphNode::to, nodes, data, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  return change_edges(__func__, graph, from, to, data, count, Graphs::connect);
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        size_t count) {
  return change_edges(__func__, graph, from, to, data, count, Graphs::disconnect);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return about_node(__func__, node, [&](Runtime&, const GraphNode& n) -> cudaError_t {
    if (type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(n.work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return about_node(__func__, node, [](Runtime& r, GraphNode& n) {
    if (keeps_shape(r, "cudaGraphDestroyNode", *n.graph)) return cudaErrorNotSupported;
    graphs().remove(n);
    return cudaSuccess;
  });
}

// A picture in Graphviz's language: nodes with what they do.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned /*flags*/) {
  return about_graph(__func__, graph, [&](Runtime& r, Device&, const Graph& g) -> cudaError_t {
    if (path == nullptr) return cudaErrorInvalidValue;
    std::map<const GraphNode*, std::size_t> numbers;
    std::ofstream file(path);
    file << "digraph dot {\n";
    for (const auto& node : g.nodes) {
      const std::size_t number = numbers.emplace(node.get(), numbers.size()).first->second;
      file << "  node_" << number << " [label=\"" << label(r, *node) << "\"];\n";
    }
    for (const auto& node : g.nodes) {
      for (const GraphNode* after : node->to)
        file << "  node_" << numbers[node.get()] << " -> node_" << numbers[after] << ";\n";
    }
    file << "}\n" << std::flush;
    return file ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device&) -> cudaError_t {
    if (object == nullptr || destroy == nullptr || count == 0 ||
        flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    *object = reinterpret_cast<cudaUserObject_t>(new UserObject{data, destroy, count});
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device&) -> cudaError_t {
    if (object == nullptr || count == 0) return cudaErrorInvalidValue;
    reinterpret_cast<UserObject*>(object)->count += count;
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return api(__func__, Reach::kHost, [&](Runtime&, Device&) -> cudaError_t {
    if (object == nullptr || count == 0) return cudaErrorInvalidValue;
    release_user_object(reinterpret_cast<UserObject*>(object), count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return about_graph(__func__, graph, [&](Runtime&, Device&, Graph& g) -> cudaError_t {
    if (object == nullptr || count == 0 || (flags & ~cudaGraphUserObjectMove) != 0)
      return cudaErrorInvalidValue;
    auto* own = reinterpret_cast<UserObject*>(object);
    if ((flags & cudaGraphUserObjectMove) == 0) own->count += count;
    g.kept[own] += count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return about_graph(__func__, graph, [&](Runtime&, Device&, Graph& g) -> cudaError_t {
    const auto it = g.kept.find(reinterpret_cast<UserObject*>(object));
    if (count == 0 || object == nullptr) return cudaErrorInvalidValue;
    if (it == g.kept.end()) return cudaSuccess;  // as an H100 takes it
    count = std::min(count, it->second);
    it->second -= count;
    UserObject* own = it->first;
    if (it->second == 0) g.kept.erase(it);
    release_user_object(own, count);
    return cudaSuccess;
  });
}

}  // extern "C"
