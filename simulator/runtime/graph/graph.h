// Graphs: work with its dependencies, and what is made of it to be launched.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

struct GraphNode {
  Graph* graph = nullptr;
  Work work;
  int device = 0;
  std::uint64_t origin = 0;          // the same for a node and its copies in clones
  std::vector<GraphNode*> from, to;  // what it waits for, and what waits for it
  // Pointers into KernelWork::parameters, as cudaGraphKernelNodeGetParams gave them last.
  std::vector<void*> arguments;
};

// A user object that a graph keeps alive (cudaUserObjectCreate). It stays when its destructor has
// run: a program may name it later, which an H100 takes for done.
struct UserObject {
  void* data = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned count = 1;
  bool destroyed = false;
};

// Gives references back, as many as there are; the last one runs the destructor.
void release_user_object(UserObject* object, unsigned count);

struct GraphExec;

struct Graph {
  std::uint64_t id = 0;
  std::list<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were added
  std::weak_ptr<GraphExec> exec;                // the last that was made of it
  std::map<UserObject*, unsigned> kept;         // references to user objects
  Graph* parent = nullptr;  // of a conditional node's body: the graph with the node
  std::vector<std::shared_ptr<Condition>> conditions;  // handles that were made for it
  ~Graph();
};

// An instantiated graph: its nodes in an order that keeps the dependencies, each with the node it
// was made from.
struct GraphExec {
  struct Step {
    Work work;
    int device = 0;
    std::uint64_t origin = 0, graph = 0;  // of the node, and its graph's id
    bool enabled = true;
    std::vector<std::size_t> from;                   // steps it waits for
    std::size_t branch = 0;                          // of `branches`
    std::shared_ptr<GraphExec> child;                // of a ChildWork
    std::vector<std::shared_ptr<GraphExec>> bodies;  // of a ConditionalWork
  };
  std::vector<Step> steps;
  // Chains of steps that cover all of them. A chain has a lane in the order of operations as soon
  // as it is launched.
  std::vector<std::optional<Lane>> branches;
  std::vector<std::shared_ptr<Condition>> conditions;  // get their values at each launch
  std::optional<Lane> conditions_lane;                 // where they do
  Clock launched;  // covers its launches: one begins when those before it have ended
  unsigned long long flags = 0;
  std::map<UserObject*, unsigned> kept;
  ~GraphExec();
};

// All graphs of the process, by their handles. Guarded by the device lock.
class Graphs {
 public:
  Graph* create();
  // nullptr for a handle that is none, or not any more.
  Graph* find(cudaGraph_t handle) const;
  GraphNode* find(cudaGraphNode_t handle) const;
  std::shared_ptr<GraphExec> find(cudaGraphExec_t handle) const;
  bool destroy(Graph* graph);
  // The graph belongs to a node from now on (cudaGraphChildGraphOwnershipMove). nullptr: it is the
  // program's no more.
  std::shared_ptr<Graph> adopt(Graph* graph);
  bool destroy(cudaGraphExec_t exec);

  // Adds a node after `dependencies`, which are of the same graph and all different.
  GraphNode* add(Graph& graph, Work work, int device, const std::vector<GraphNode*>& dependencies);
  void remove(GraphNode& node);
  static bool connect(GraphNode& from, GraphNode& to);     // false: they were connected before
  static bool disconnect(GraphNode& from, GraphNode& to);  // false: they were not
  Graph* clone(const Graph& graph);
  // Whether it belongs to a child node, or to a conditional one.
  bool is_of_node(const Graph& graph) const { return children_.count(&graph) != 0; }
  // A copy that belongs to a node.
  std::shared_ptr<Graph> copy(const Graph& graph);

  // An empty one that belongs to a conditional node of `parent`.
  std::shared_ptr<Graph> make_body(Graph& parent);

  // nullptr when the graph has a cycle.
  static std::shared_ptr<GraphExec> instantiate(const Graph& graph);
  cudaGraphExec_t enter(std::shared_ptr<GraphExec> exec);

 private:
  void copy_into(const Graph& graph, Graph& to);
  void forget(const Graph& graph);

  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::set<const void*> children_;  // graphs of child nodes
  std::set<const void*> nodes_;
  std::map<const void*, std::shared_ptr<GraphExec>> execs_;
  std::uint64_t origins_ = 0;
};
Graphs& graphs();

// Whether the graph, or one within it, allocates or frees memory. Such a graph has one executable
// graph at a time, cannot be cloned, and keeps its nodes and edges (cudaGraphAddMemAllocNode).
bool has_memory_nodes(const Graph& graph);

// Puts all steps into the queue, launched in a stream. Changes of the exec are of later launches.
cudaError_t launch_graph(Runtime& runtime, const char* api_name, GraphExec& exec, Stream& stream);

// Whether the graph can take the place of what the exec was made from; changes the exec if so.
cudaGraphExecUpdateResult update(GraphExec& exec, const Graph& graph, const GraphNode** error_node);
// Gives a step new parameters. False when they are of another type, or change what may not be
// changed.
bool replace_work(GraphExec::Step& step, Work work);

}  // namespace lockstep::runtime
