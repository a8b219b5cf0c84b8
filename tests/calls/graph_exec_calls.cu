// Executable graphs.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_graph_exec {

void instantiate(Rig& rig) {
  Graph* const g = rig.pick(rig.graphs);
  if (g == nullptr) return;
  const std::string name = rig.number("exec");
  const unsigned long long flags =
      rig.random.of({0ull, 0ull, 0ull, 1ull, 2ull, 8ull, 16ull, 64ull});
  cudaGraphExec_t exec = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&exec, g->it, flags);
  rig.answer(text("cudaGraphInstantiate(&%s, %s, %llu)", name.c_str(), g->name.c_str(), flags),
             error);
  if (error == cudaSuccess) rig.execs.push_back({exec, name, g->nodes});
}

void launch(Rig& rig) {
  Exec* const e = rig.pick(rig.execs);
  if (e == nullptr) return;
  const auto s = rig.stream();
  const bool upload = rig.random.chance(15);
  rig.answer(
      text("cudaGraph%s(%s, %s)", upload ? "Upload" : "Launch", e->name.c_str(), s.name.c_str()),
      upload ? cudaGraphUpload(e->it, s.it) : cudaGraphLaunch(e->it, s.it));
}

void update(Rig& rig) {
  Exec* const e = rig.pick(rig.execs);
  Graph* const g = rig.pick(rig.graphs);
  if (e == nullptr || g == nullptr) return;
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t error = cudaGraphExecUpdate(e->it, g->it, &info);
  rig.answer(
      text("cudaGraphExecUpdate(%s, %s) [%d]", e->name.c_str(), g->name.c_str(), info.result),
      error);
}

// A node of the graph: an executable graph knows the nodes that its graph had.
void change_node(Rig& rig) {
  Exec* const e = rig.pick(rig.execs);
  Graph* const g = rig.pick(rig.graphs);
  if (e == nullptr || g == nullptr) return;
  Named<cudaGraphNode_t>* const n = rig.pick(g->nodes);
  if (n == nullptr) return;
  switch (rig.random.below(4)) {
    case 0: {
      unsigned* slot = rig.slot();
      unsigned value = static_cast<unsigned>(rig.random.below(1000));
      void* arguments[] = {&slot, &value};
      cudaKernelNodeParams p = {};
      p.func = reinterpret_cast<void*>(&add);
      p.gridDim = {rig.random.of({1u, 1u, 2u, 0u}), 1, 1};
      p.blockDim = {rig.random.of({1u, 32u, 1024u, 1025u}), 1, 1};
      p.kernelParams = arguments;
      return rig.answer(
          text("cudaGraphExecKernelNodeSetParams(%s, %s, %u %u %s %u)", e->name.c_str(),
               n->name.c_str(), p.gridDim.x, p.blockDim.x, rig.slot_name().c_str(), value),
          cudaGraphExecKernelNodeSetParams(e->it, n->it, &p));
    }
    case 1: {
      const unsigned enabled = rig.random.of({0u, 1u, 1u, 2u});
      return rig.answer(
          text("cudaGraphNodeSetEnabled(%s, %s, %u)", e->name.c_str(), n->name.c_str(), enabled),
          cudaGraphNodeSetEnabled(e->it, n->it, enabled));
    }
    case 2: {
      unsigned enabled = 99;
      const cudaError_t error = cudaGraphNodeGetEnabled(e->it, n->it, &enabled);
      return rig.answer(text("cudaGraphNodeGetEnabled(%s, %s)", e->name.c_str(), n->name.c_str()),
                        error, text("%u", enabled));
    }
    default: {
      cudaMemsetParams p = {};
      p.dst = rig.slot();
      p.elementSize = 1;
      p.value = static_cast<unsigned>(rig.random.below(300));
      p.width = kSlotBytes;
      p.height = 1;
      return rig.answer(text("cudaGraphExecMemsetNodeSetParams(%s, %s, %s, %u)", e->name.c_str(),
                             n->name.c_str(), rig.slot_name().c_str(), p.value),
                        cudaGraphExecMemsetNodeSetParams(e->it, n->it, &p));
    }
  }
}

void flags(Rig& rig) {
  Exec* const e = rig.pick(rig.execs);
  if (e == nullptr) return;
  unsigned long long flags = 0;
  const cudaError_t error = cudaGraphExecGetFlags(e->it, &flags);
  rig.answer(text("cudaGraphExecGetFlags(%s)", e->name.c_str()), error, text("%llu", flags));
}

void destroy(Rig& rig) {
  Exec* const e = rig.pick(rig.execs);
  if (e == nullptr) return;
  rig.answer(text("cudaGraphExecDestroy(%s)", e->name.c_str()), cudaGraphExecDestroy(e->it));
  rig.remove(rig.execs, e);
}

}  // namespace in_graph_exec

std::vector<Call<Rig>> graph_exec_calls() {
  using namespace in_graph_exec;
  return {{7, instantiate}, {8, launch}, {4, update}, {6, change_node}, {1, flags}, {1, destroy}};
}

}  // namespace lockstep::calls
