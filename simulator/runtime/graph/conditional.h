// Conditional nodes of graphs: if, while and switch (CUDA C++ Programming Guide, "Conditional Graph
// Nodes").
//
// Which steps of its bodies a node executes is known when it is executed. So a launch puts the node
// alone into the queue; the node puts a body behind itself, before whatever comes after the node,
// and a while node puts itself behind its body. What comes after the node has to be known earlier:
// a launch reserves numbers in the lanes of all bodies, and whatever comes after the node covers
// them. A body that runs so often that its numbers are used up goes on with the last.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "simulator/runtime/graph/graph.h"
#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {

// Who launches a graph.
struct LaunchedBy {
  const char* api_name = "";
  const void* caller = nullptr;
  engine::StreamName stream;
  std::uint64_t chain = 0;
};

// The entry of a step, but for its place.
std::shared_ptr<Pending> make_entry(const GraphExec::Step& step, const LaunchedBy& by);

// Puts a conditional step, whose entry has its place, into its launch: `end` covers what the node
// will execute.
void prepare_condition(Runtime& runtime, GraphExec& exec, GraphExec::Step& step,
                       const LaunchedBy& by, Pending& entry, Clock* end);

// Puts an operation before all steps of the launch that gives its handles their values; nullptr:
// the graph has none.
std::shared_ptr<Pending> begin_conditions(Runtime& runtime, GraphExec& exec, const Clock& start,
                                          const LaunchedBy& by);

// The node of a graph for cudaGraphAddNode. The bodies are new, and empty.
cudaError_t conditional_work(Runtime& r, const char* api_name, Graph& graph,
                             cudaConditionalNodeParams* params, Work* work);

// Whether the graph, or one within it, has conditional nodes. Such a graph has one executable graph
// at a time, cannot be cloned, and is no child.
bool has_conditional_nodes(const Graph& graph);
// Whether the bodies in it have nodes that bodies may have: kernels, copies, fills, empty ones,
// children, conditional ones.
bool bodies_are_allowed(const Graph& graph);
// All handles that were made for the graph and those within it.
std::vector<std::shared_ptr<Condition>> conditions_of(const Graph& graph);

}  // namespace lockstep::runtime
