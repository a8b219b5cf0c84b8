// Graphs: nodes of work with their dependencies, and the executable graphs made from them.
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
  std::vector<GraphNode*> from, to;  // its dependencies, and its dependents
  // Pointers into KernelWork::parameters, as cudaGraphKernelNodeGetParams last returned them.
  std::vector<void*> arguments;
};

// A user object that a graph keeps alive (cudaUserObjectCreate). It is kept after its destructor
// has run: a program may name it later, and an H100 accepts that.
struct UserObject {
  void* data = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned count = 1;
  bool destroyed = false;
};

// Releases at most `count` references. Releasing the last one runs the destructor.
void release_user_object(UserObject* object, unsigned count);

struct GraphExec;

struct Graph {
  std::uint64_t id = 0;
  std::list<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were added
  std::weak_ptr<GraphExec> exec;                // the last one instantiated from it
  std::map<UserObject*, unsigned> kept;         // references to user objects
  Graph* parent = nullptr;  // for a conditional node's body: the graph that contains the node
  std::vector<std::shared_ptr<Condition>> conditions;  // handles created for it
  ~Graph();
};

// An instantiated graph: its nodes in an order that respects the dependencies, each with the node
// it was made from.
struct GraphExec {
  struct Step {
    Work work;
    int device = 0;
    std::uint64_t origin = 0, graph = 0;  // of the node, and its graph's id
    bool enabled = true;
    std::vector<std::size_t> from;                   // indices of the steps it depends on
    std::size_t branch = 0;                          // index in `branches`
    std::shared_ptr<GraphExec> child;                // of a ChildWork
    std::vector<std::shared_ptr<GraphExec>> bodies;  // of a ConditionalWork
  };
  std::vector<Step> steps;
  // Chains of steps that together contain all steps. A chain gets a lane in the order of operations
  // at its first launch.
  std::vector<std::optional<Lane>> branches;
  std::vector<std::shared_ptr<Condition>> conditions;  // set to their defaults at each launch
  std::optional<Lane> conditions_lane;                 // the lane of the operation that sets them
  Clock launched;  // covers its launches: each starts after the launches before it have ended
  unsigned long long flags = 0;
  std::map<UserObject*, unsigned> kept;
  ~GraphExec();
};

// All graphs of the process, by their handles. Guarded by the device lock.
class Graphs {
 public:
  Graph* create();
  // Returns nullptr for a handle that is invalid or destroyed.
  Graph* find(cudaGraph_t handle) const;
  GraphNode* find(cudaGraphNode_t handle) const;
  std::shared_ptr<GraphExec> find(cudaGraphExec_t handle) const;
  bool destroy(Graph* graph);
  // Transfers the graph to a node (cudaGraphChildGraphOwnershipMove). Returns nullptr if the
  // program no longer owns it.
  std::shared_ptr<Graph> adopt(Graph* graph);
  bool destroy(cudaGraphExec_t exec);

  // Adds a node after `dependencies`, which must be different nodes of this graph.
  GraphNode* add(Graph& graph, Work work, int device, const std::vector<GraphNode*>& dependencies);
  void remove(GraphNode& node);
  static bool connect(GraphNode& from, GraphNode& to);     // false if they are connected already
  static bool disconnect(GraphNode& from, GraphNode& to);  // false if they are not connected
  Graph* clone(const Graph& graph);
  // Whether it belongs to a child node or a conditional node.
  bool is_of_node(const Graph& graph) const { return children_.count(&graph) != 0; }
  // A copy that belongs to a node.
  std::shared_ptr<Graph> copy(const Graph& graph);

  // An empty graph that belongs to a conditional node of `parent`.
  std::shared_ptr<Graph> make_body(Graph& parent);

  // Returns nullptr if the graph has a cycle.
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

// Whether the graph, or a graph within it, allocates or frees memory. Such a graph can have one
// executable graph at a time, cannot be cloned, and its nodes and edges cannot be removed
// (cudaGraphAddMemAllocNode).
bool has_memory_nodes(const Graph& graph);

// Queues all steps, as a launch in `stream`. Later changes of the exec affect later launches only.
cudaError_t launch_graph(Runtime& runtime, const char* api_name, GraphExec& exec, Stream& stream);

// Whether the graph can replace the one that the exec was made from; if so, updates the exec.
cudaGraphExecUpdateResult update(GraphExec& exec, const Graph& graph, const GraphNode** error_node);
// Sets new parameters of a step. Returns false if they are of another type, or change something
// that may not change.
bool replace_work(GraphExec::Step& step, Work work);

}  // namespace lockstep::runtime
