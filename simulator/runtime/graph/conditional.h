// Conditional nodes of graphs: if, while and switch (CUDA C++ Programming Guide, "Conditional Graph
// Nodes").
//
// Which bodies a node executes is known only when the node is executed. So a launch queues the node
// alone. The node inserts a body behind itself, before any later operation; a while node inserts
// itself again behind its body. The order of later operations must be known earlier: a launch
// reserves numbers in the lanes of all bodies, and later operations cover them. A body that runs
// more often than numbers are reserved reuses the last number.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "simulator/runtime/graph/graph.h"
#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {

// The launch of a graph: the call, its stream and its chain.
struct LaunchedBy {
  const char* api_name = "";
  const void* caller = nullptr;
  engine::StreamName stream;
  std::uint64_t chain = 0;
};

// Creates the queue entry of a step, without its place in the order.
std::shared_ptr<Pending> make_entry(const GraphExec::Step& step, const LaunchedBy& by);

// Prepares a conditional step, whose entry has its place, for its launch. On return `end` also
// covers what the node will execute.
void prepare_condition(Runtime& runtime, GraphExec& exec, GraphExec::Step& step,
                       const LaunchedBy& by, Pending& entry, Clock* end);

// Queues an operation, before all steps of the launch, that gives the graph's handles their default
// values. Returns nullptr if the graph has no handles.
std::shared_ptr<Pending> begin_conditions(Runtime& runtime, GraphExec& exec, const Clock& start,
                                          const LaunchedBy& by);

// The work of a conditional node, for cudaGraphAddNode. Its bodies are new empty graphs.
cudaError_t conditional_work(Runtime& r, const char* api_name, Graph& graph,
                             cudaConditionalNodeParams* params, Work* work);

// Whether the graph, or a graph within it, has conditional nodes. Such a graph can have one
// executable graph at a time, and cannot be cloned or be a child.
bool has_conditional_nodes(const Graph& graph);
// Whether the bodies in it contain only nodes that bodies may contain: kernels, copies, fills,
// empty, child and conditional nodes.
bool bodies_are_allowed(const Graph& graph);
// All handles created for the graph and for graphs within it.
std::vector<std::shared_ptr<Condition>> conditions_of(const Graph& graph);

}  // namespace lockstep::runtime
