// Graphs and their nodes.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_graph {

void count(void* calls) { __atomic_fetch_add(static_cast<unsigned*>(calls), 1u, __ATOMIC_RELAXED); }

void create(Rig& rig) {
  const std::string name = rig.number("graph");
  const unsigned flags = rig.random.chance(10) ? 1 : 0;
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaGraphCreate(&graph, flags);
  rig.answer(text("cudaGraphCreate(&%s, %u)", name.c_str(), flags), error);
  if (error == cudaSuccess) rig.graphs.push_back({graph, name, {}});
}

// Nodes on which a new node depends, mostly of its graph.
struct Dependencies {
  std::vector<cudaGraphNode_t> nodes;
  std::string names;
};

Dependencies dependencies(Rig& rig, Graph& graph) {
  Dependencies d;
  for (std::size_t i = rig.random.below(3); i-- > 0;) {
    Graph* from = &graph;
    if (rig.random.chance(4)) from = rig.pick(rig.graphs);
    Named<cudaGraphNode_t>* const n = rig.pick(from->nodes);
    if (n == nullptr) continue;
    d.nodes.push_back(n->it);
    d.names += " " + n->name;
  }
  return d;
}

void add_node(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  const Dependencies d = dependencies(rig, *g);
  const std::string name = rig.number("node");
  cudaGraphNode_t node = nullptr;
  cudaError_t error = cudaSuccess;
  std::string what;
  const cudaGraphNode_t* const on = d.nodes.data();
  const std::size_t count_on = d.nodes.size();
  switch (rig.random.below(8)) {
    case 0:
      what = "Empty";
      error = cudaGraphAddEmptyNode(&node, g->it, on, count_on);
      break;
    case 1:
    case 2: {
      unsigned* slot = rig.slot();
      unsigned value = static_cast<unsigned>(rig.random.below(1000));
      void* arguments[] = {&slot, &value};
      cudaKernelNodeParams p = {};
      const bool few = rig.random.chance(30);
      p.func = few ? reinterpret_cast<void*>(&few_threads) : reinterpret_cast<void*>(&add);
      p.gridDim = {rig.random.of({1u, 1u, 2u, 0u}), 1, 1};
      p.blockDim = {rig.random.of({1u, 32u, 64u, 65u, 1024u, 1025u, 0u}), 1, 1};
      p.sharedMemBytes = rig.random.of({0u, 0u, 0u, 1024u, 49153u});
      p.kernelParams = arguments;
      what = text("Kernel %s %u %u %u %s %u", few ? "few_threads" : "add", p.gridDim.x,
                  p.blockDim.x, p.sharedMemBytes, rig.slot_name().c_str(), value);
      error = cudaGraphAddKernelNode(&node, g->it, on, count_on, &p);
      break;
    }
    case 3: {
      cudaMemsetParams p = {};
      p.dst = rig.slot();
      p.elementSize = rig.random.of({1u, 2u, 4u, 3u, 0u});
      p.value = static_cast<unsigned>(rig.random.below(300));
      p.width = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{8}});
      p.height = rig.random.of({std::size_t{1}, std::size_t{1}, std::size_t{0}, std::size_t{2}});
      p.pitch = rig.random.of({std::size_t{0}, std::size_t{4}, std::size_t{32}});
      what = text("Memset %s size %u value %u width %zu height %zu pitch %zu",
                  rig.slot_name().c_str(), p.elementSize, p.value, p.width, p.height, p.pitch);
      error = cudaGraphAddMemsetNode(&node, g->it, on, count_on, &p);
      break;
    }
    case 4: {
      const std::size_t bytes = rig.random.chance(10) ? 0 : kSlotBytes;
      const int kind = rig.random.of({3, 4});
      unsigned* const slot = rig.slot();
      what = text("Memcpy1D %s %zu %d", rig.slot_name().c_str(), bytes, kind);
      error = cudaGraphAddMemcpyNode1D(&node, g->it, on, count_on, slot, rig.constants(), bytes,
                                       static_cast<cudaMemcpyKind>(kind));
      break;
    }
    case 5: {
      cudaHostNodeParams p = {rig.random.chance(5) ? nullptr : count, &rig.host_calls};
      what = p.fn == nullptr ? "Host null" : "Host";
      error = cudaGraphAddHostNode(&node, g->it, on, count_on, &p);
      break;
    }
    case 6: {
      Graph* const child = rig.pick(rig.graphs);
      if (child == g) return;  // the driver of an H200 dies of it
      what = text("ChildGraph %s", child->name.c_str());
      error = cudaGraphAddChildGraphNode(&node, g->it, on, count_on, child->it);
      break;
    }
    default: {
      Named<cudaEvent_t>* const e = rig.pick(rig.events);
      if (e == nullptr) return;
      const bool record = rig.random.chance(50);
      what = text("%s %s", record ? "EventRecord" : "EventWait", e->name.c_str());
      error = record ? cudaGraphAddEventRecordNode(&node, g->it, on, count_on, e->it)
                     : cudaGraphAddEventWaitNode(&node, g->it, on, count_on, e->it);
    }
  }
  rig.answer(text("cudaGraphAddNode(&%s, %s,%s) %s", name.c_str(), g->name.c_str(), d.names.c_str(),
                  what.c_str()),
             error);
  if (error == cudaSuccess) g->nodes.push_back({node, name});
}

void change_dependencies(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr || g->nodes.empty()) return;
  const Named<cudaGraphNode_t> from = *rig.pick(g->nodes), to = *rig.pick(g->nodes);
  const bool adds = rig.random.chance(60);
  const std::size_t times = rig.random.chance(90) ? 1 : rig.random.below(3);
  const cudaGraphNode_t froms[] = {from.it, from.it}, tos[] = {to.it, to.it};
  rig.answer(text("cudaGraph%sDependencies(%s, %s, %s, %zu)", adds ? "Add" : "Remove",
                  g->name.c_str(), from.name.c_str(), to.name.c_str(), times),
             adds ? cudaGraphAddDependencies(g->it, froms, tos, nullptr, times)
                  : cudaGraphRemoveDependencies(g->it, froms, tos, nullptr, times));
}

void ask(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  std::size_t count = 0;
  switch (rig.random.below(6)) {
    case 0: {
      const cudaError_t error = cudaGraphGetNodes(g->it, nullptr, &count);
      return rig.answer(text("cudaGraphGetNodes(%s)", g->name.c_str()), error, text("%zu", count));
    }
    case 1: {
      const cudaError_t error = cudaGraphGetRootNodes(g->it, nullptr, &count);
      return rig.answer(text("cudaGraphGetRootNodes(%s)", g->name.c_str()), error,
                        text("%zu", count));
    }
    case 2: {
      const cudaError_t error = cudaGraphGetEdges(g->it, nullptr, nullptr, nullptr, &count);
      return rig.answer(text("cudaGraphGetEdges(%s)", g->name.c_str()), error, text("%zu", count));
    }
    default: break;
  }
  Named<cudaGraphNode_t>* const n = rig.pick(g->nodes);
  if (n == nullptr) return;
  switch (rig.random.below(4)) {
    case 0: {
      auto type = cudaGraphNodeTypeCount;
      const cudaError_t error = cudaGraphNodeGetType(n->it, &type);
      return rig.answer(text("cudaGraphNodeGetType(%s)", n->name.c_str()), error, text("%d", type));
    }
    case 1: {
      const cudaError_t error = cudaGraphNodeGetDependencies(n->it, nullptr, nullptr, &count);
      return rig.answer(text("cudaGraphNodeGetDependencies(%s)", n->name.c_str()), error,
                        text("%zu", count));
    }
    case 2: {
      const cudaError_t error = cudaGraphNodeGetDependentNodes(n->it, nullptr, nullptr, &count);
      return rig.answer(text("cudaGraphNodeGetDependentNodes(%s)", n->name.c_str()), error,
                        text("%zu", count));
    }
    default: {
      cudaKernelNodeParams p = {};
      const cudaError_t error = cudaGraphKernelNodeGetParams(n->it, &p);
      return rig.answer(text("cudaGraphKernelNodeGetParams(%s)", n->name.c_str()), error,
                        text("%u %u %u", p.gridDim.x, p.blockDim.x, p.sharedMemBytes));
    }
  }
}

void change_node(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  Named<cudaGraphNode_t>* const n = rig.pick(g->nodes);
  if (n == nullptr) return;
  switch (rig.random.below(3)) {
    case 0: {
      cudaMemsetParams p = {};
      p.dst = rig.slot();
      p.elementSize = 1;
      p.value = static_cast<unsigned>(rig.random.below(300));
      p.width = kSlotBytes;
      p.height = 1;
      return rig.answer(text("cudaGraphMemsetNodeSetParams(%s, %s, %u)", n->name.c_str(),
                             rig.slot_name().c_str(), p.value),
                        cudaGraphMemsetNodeSetParams(n->it, &p));
    }
    case 1: {
      unsigned* const slot = rig.slot();
      return rig.answer(
          text("cudaGraphMemcpyNodeSetParams1D(%s, %s)", n->name.c_str(), rig.slot_name().c_str()),
          cudaGraphMemcpyNodeSetParams1D(n->it, slot, rig.constants(), kSlotBytes,
                                         cudaMemcpyDefault));
    }
    default: {
      cudaHostNodeParams p = {count, &rig.host_calls};
      return rig.answer(text("cudaGraphHostNodeSetParams(%s)", n->name.c_str()),
                        cudaGraphHostNodeSetParams(n->it, &p));
    }
  }
}

void destroy_node(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  Named<cudaGraphNode_t>* const n = rig.pick(g->nodes);
  if (n == nullptr) return;
  const cudaError_t error = cudaGraphDestroyNode(n->it);
  rig.answer(text("cudaGraphDestroyNode(%s)", n->name.c_str()), error);
  if (error == cudaSuccess) rig.remove(g->nodes, n);
}

void clone(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  const std::string name = rig.number("graph");
  cudaGraph_t copy = nullptr;
  const cudaError_t error = cudaGraphClone(&copy, g->it);
  rig.answer(text("cudaGraphClone(&%s, %s)", name.c_str(), g->name.c_str()), error);
  if (error != cudaSuccess) return;
  Graph made = {copy, name, {}};
  if (Named<cudaGraphNode_t>* const n = rig.pick(g->nodes)) {
    cudaGraphNode_t same = nullptr;
    const cudaError_t found = cudaGraphNodeFindInClone(&same, n->it, copy);
    const std::string own = rig.number("node");
    rig.answer(
        text("cudaGraphNodeFindInClone(&%s, %s, %s)", own.c_str(), n->name.c_str(), name.c_str()),
        found);
    if (found == cudaSuccess) made.nodes.push_back({same, own});
  }
  rig.graphs.push_back(made);
}

void destroy(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  rig.answer(text("cudaGraphDestroy(%s)", g->name.c_str()), cudaGraphDestroy(g->it));
  rig.remove(rig.graphs, g);
}

}  // namespace in_graph

std::vector<Call<Rig>> graph_calls() {
  using namespace in_graph;
  return {{4, create}, {14, add_node},   {5, change_dependencies},
          {6, ask},    {4, change_node}, {2, destroy_node},
          {2, clone},  {1, destroy}};
}

}  // namespace lockstep::calls
