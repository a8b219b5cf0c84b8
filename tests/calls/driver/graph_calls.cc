// Graphs: the nodes whose parameters are the driver's own.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_graph {

void create(Rig& rig) {
  const std::string name = rig.number("graph");
  const unsigned flags = rig.random.chance(10) ? 1 : 0;
  CUgraph graph = nullptr;
  const CUresult result = DRIVER(cuGraphCreate)(&graph, flags);
  rig.answer(text("cuGraphCreate(&%s, %u)", name.c_str(), flags), result);
  if (result == CUDA_SUCCESS) rig.graphs.push_back({graph, name, {}});
}

// Parameters of nodes, with their names in the transcript.
struct KernelParameters {
  CUDA_KERNEL_NODE_PARAMS it = {};
  CUdeviceptr slot = 0;
  unsigned value = 0;
  void* arguments[2] = {};
  std::string name;
};

void draw(Rig& rig, KernelParameters& p) {
  const Named<CUfunction> f = rig.codes.front().functions[rig.random.below(3)];
  p.slot = rig.slot();
  p.value = static_cast<unsigned>(rig.random.below(1000));
  p.arguments[0] = &p.slot;
  p.arguments[1] = &p.value;
  p.it.func = rig.random.chance(95) ? f.it : nullptr;
  p.it.gridDimX = rig.random.of({1u, 1u, 2u, 0u});
  p.it.gridDimY = p.it.gridDimZ = 1;
  p.it.blockDimX = rig.random.of({1u, 32u, 64u, 65u, 1024u, 1025u, 0u});
  p.it.blockDimY = p.it.blockDimZ = 1;
  p.it.sharedMemBytes = rig.random.of({0u, 0u, 0u, 1024u, 49153u});
  p.it.kernelParams = p.arguments;
  p.name = text("%s %u %u %u %s %u", p.it.func == nullptr ? "null" : f.name.c_str(), p.it.gridDimX,
                p.it.blockDimX, p.it.sharedMemBytes, rig.slot_name().c_str(), p.value);
}

CUDA_MEMSET_NODE_PARAMS draw_fill(Rig& rig, std::string& name) {
  CUDA_MEMSET_NODE_PARAMS p = {};
  p.dst = rig.slot();
  p.elementSize = rig.random.of({1u, 2u, 4u, 3u, 0u});
  p.value = static_cast<unsigned>(rig.random.below(300));
  p.width = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{8}});
  p.height = rig.random.of({std::size_t{1}, std::size_t{1}, std::size_t{0}, std::size_t{2}});
  p.pitch = rig.random.of({std::size_t{0}, std::size_t{4}, std::size_t{32}});
  name = text("%s size %u value %u width %zu height %zu pitch %zu", rig.slot_name().c_str(),
              p.elementSize, p.value, p.width, p.height, p.pitch);
  return p;
}

CUDA_MEMCPY3D draw_copy(Rig& rig, std::string& name) {
  CUDA_MEMCPY3D p = {};
  p.srcMemoryType = rig.random.of({CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE,
                                   CU_MEMORYTYPE_UNIFIED, static_cast<CUmemorytype>(9)});
  p.srcDevice = rig.constants();
  p.srcPitch = rig.random.of({std::size_t{0}, std::size_t{16}, std::size_t{3}});
  p.dstMemoryType = rig.random.of({CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE,
                                   CU_MEMORYTYPE_UNIFIED, static_cast<CUmemorytype>(9)});
  p.dstDevice = rig.slot();
  p.dstPitch = rig.random.of({std::size_t{0}, std::size_t{16}, std::size_t{3}});
  p.WidthInBytes = rig.random.of({std::size_t{4}, std::size_t{16}, std::size_t{0}});
  p.Height = rig.random.of({std::size_t{1}, std::size_t{1}, std::size_t{2}, std::size_t{0}});
  p.Depth = rig.random.of({std::size_t{1}, std::size_t{1}, std::size_t{0}});
  name =
      text("{%d %zu} -> {%d %s %zu} %zu x %zu x %zu", p.srcMemoryType, p.srcPitch, p.dstMemoryType,
           rig.slot_name().c_str(), p.dstPitch, p.WidthInBytes, p.Height, p.Depth);
  return p;
}

void add_node(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  CUgraphNode before = nullptr, node = nullptr;
  std::string on = "none";
  if (Named<CUgraphNode>* const n = rig.random.chance(40) ? rig.pick(g->nodes) : nullptr)
    before = n->it, on = n->name;
  const CUgraphNode* const first = before == nullptr ? nullptr : &before;
  const std::size_t dependencies = before == nullptr ? 0 : 1;
  const std::string name = rig.number("node");
  const CUcontext context = rig.random.chance(90) ? rig.context() : nullptr;
  std::string what;
  CUresult result = CUDA_SUCCESS;
  switch (rig.random.below(5)) {
    case 0:
    case 1: {
      KernelParameters p;
      draw(rig, p);
      what = "Kernel " + p.name;
      result = DRIVER(cuGraphAddKernelNode)(&node, g->it, first, dependencies, &p.it);
      break;
    }
    case 2: {
      const CUDA_MEMSET_NODE_PARAMS p = draw_fill(rig, what);
      what = "Memset " + what + (context == nullptr ? " null" : "");
      result = DRIVER(cuGraphAddMemsetNode)(&node, g->it, first, dependencies, &p, context);
      break;
    }
    case 3: {
      const CUDA_MEMCPY3D p = draw_copy(rig, what);
      what = "Memcpy " + what + (context == nullptr ? " null" : "");
      result = DRIVER(cuGraphAddMemcpyNode)(&node, g->it, first, dependencies, &p, context);
      break;
    }
    default: {
      const CUDA_HOST_NODE_PARAMS p = {rig.random.chance(5) ? nullptr : count, &rig.host_calls};
      what = p.fn == nullptr ? "Host null" : "Host";
      result = DRIVER(cuGraphAddHostNode)(&node, g->it, first, dependencies, &p);
    }
  }
  rig.answer(text("cuGraphAddNode(&%s, %s, %s) %s", name.c_str(), g->name.c_str(), on.c_str(),
                  what.c_str()),
             result);
  if (result == CUDA_SUCCESS) g->nodes.push_back({node, name});
}

Named<CUgraphNode>* any_node(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  return g == nullptr ? nullptr : rig.pick(g->nodes);
}

void ask_node(Rig& rig) {
  Named<CUgraphNode>* const n = any_node(rig);
  if (n == nullptr) return;
  switch (rig.random.below(5)) {
    case 0: {
      CUDA_KERNEL_NODE_PARAMS p = {};
      const CUresult result = DRIVER(cuGraphKernelNodeGetParams)(n->it, &p);
      return rig.answer(
          text("cuGraphKernelNodeGetParams(%s)", n->name.c_str()), result,
          text("%u %u %u, func %s, kern %s", p.gridDimX, p.blockDimX, p.sharedMemBytes,
               p.func == nullptr ? "null" : "set", p.kern == nullptr ? "null" : "set"));
    }
    case 1: {
      CUDA_MEMSET_NODE_PARAMS p = {};
      const CUresult result = DRIVER(cuGraphMemsetNodeGetParams)(n->it, &p);
      return rig.answer(
          text("cuGraphMemsetNodeGetParams(%s)", n->name.c_str()), result,
          text("%u %u %zu %zu %zu", p.elementSize, p.value, p.width, p.height, p.pitch));
    }
    case 2: {
      CUDA_MEMCPY3D p = {};
      const CUresult result = DRIVER(cuGraphMemcpyNodeGetParams)(n->it, &p);
      return rig.answer(text("cuGraphMemcpyNodeGetParams(%s)", n->name.c_str()), result,
                        text("%zu %zu %zu", p.WidthInBytes, p.Height, p.Depth));
    }
    case 3: {
      CUDA_HOST_NODE_PARAMS p = {};
      const CUresult result = DRIVER(cuGraphHostNodeGetParams)(n->it, &p);
      return rig.answer(text("cuGraphHostNodeGetParams(%s)", n->name.c_str()), result,
                        p.fn == count ? "count" : "another");
    }
    default: {
      auto type = CU_GRAPH_NODE_TYPE_EMPTY;
      const CUresult result = DRIVER(cuGraphNodeGetType)(n->it, &type);
      return rig.answer(text("cuGraphNodeGetType(%s)", n->name.c_str()), result, text("%d", type));
    }
  }
}

void change_node(Rig& rig) {
  Named<CUgraphNode>* const n = any_node(rig);
  if (n == nullptr) return;
  std::string what;
  switch (rig.random.below(4)) {
    case 0: {
      KernelParameters p;
      draw(rig, p);
      return rig.answer(text("cuGraphKernelNodeSetParams(%s, %s)", n->name.c_str(), p.name.c_str()),
                        DRIVER(cuGraphKernelNodeSetParams)(n->it, &p.it));
    }
    case 1: {
      const CUDA_MEMSET_NODE_PARAMS p = draw_fill(rig, what);
      return rig.answer(text("cuGraphMemsetNodeSetParams(%s, %s)", n->name.c_str(), what.c_str()),
                        DRIVER(cuGraphMemsetNodeSetParams)(n->it, &p));
    }
    case 2: {
      const CUDA_MEMCPY3D p = draw_copy(rig, what);
      return rig.answer(text("cuGraphMemcpyNodeSetParams(%s, %s)", n->name.c_str(), what.c_str()),
                        DRIVER(cuGraphMemcpyNodeSetParams)(n->it, &p));
    }
    default: {
      const CUDA_HOST_NODE_PARAMS p = {count, &rig.host_calls};
      return rig.answer(text("cuGraphHostNodeSetParams(%s)", n->name.c_str()),
                        DRIVER(cuGraphHostNodeSetParams)(n->it, &p));
    }
  }
}

void instantiate(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  const std::string name = rig.number("exec");
  const unsigned flags = rig.random.of({0u, 0u, 0u, 1u, 2u, 8u, 99u});
  CUgraphExec exec = nullptr;
  const CUresult result = DRIVER(cuGraphInstantiate)(&exec, g->it, flags);
  rig.answer(text("cuGraphInstantiate(&%s, %s, %u)", name.c_str(), g->name.c_str(), flags), result);
  if (result == CUDA_SUCCESS) rig.execs.push_back({exec, name});
}

void use_exec(Rig& rig) {
  Named<CUgraphExec>* const e = rig.pick(rig.execs);
  if (e == nullptr) return;
  const auto s = rig.stream();
  std::string what;
  switch (rig.random.below(7)) {
    case 0:
      return rig.answer(text("cuGraphUpload(%s, %s)", e->name.c_str(), s.name.c_str()),
                        DRIVER(cuGraphUpload)(e->it, s.it));
    case 1: {
      Named<CUgraphNode>* const n = any_node(rig);
      if (n == nullptr) return;
      KernelParameters p;
      draw(rig, p);
      return rig.answer(text("cuGraphExecKernelNodeSetParams(%s, %s, %s)", e->name.c_str(),
                             n->name.c_str(), p.name.c_str()),
                        DRIVER(cuGraphExecKernelNodeSetParams)(e->it, n->it, &p.it));
    }
    case 2: {
      Named<CUgraphNode>* const n = any_node(rig);
      if (n == nullptr) return;
      const CUDA_MEMSET_NODE_PARAMS p = draw_fill(rig, what);
      return rig.answer(text("cuGraphExecMemsetNodeSetParams(%s, %s, %s)", e->name.c_str(),
                             n->name.c_str(), what.c_str()),
                        DRIVER(cuGraphExecMemsetNodeSetParams)(e->it, n->it, &p, rig.context()));
    }
    case 3: {
      Named<CUgraphNode>* const n = any_node(rig);
      if (n == nullptr) return;
      const CUDA_MEMCPY3D p = draw_copy(rig, what);
      return rig.answer(text("cuGraphExecMemcpyNodeSetParams(%s, %s, %s)", e->name.c_str(),
                             n->name.c_str(), what.c_str()),
                        DRIVER(cuGraphExecMemcpyNodeSetParams)(e->it, n->it, &p, rig.context()));
    }
    default:
      return rig.answer(text("cuGraphLaunch(%s, %s)", e->name.c_str(), s.name.c_str()),
                        DRIVER(cuGraphLaunch)(e->it, s.it));
  }
}

}  // namespace in_graph

std::vector<Call<Rig>> graph_calls() {
  using namespace in_graph;
  return {{3, create},      {9, add_node},    {4, ask_node},
          {3, change_node}, {3, instantiate}, {5, use_exec}};
}

}  // namespace lockstep::calls::driver
