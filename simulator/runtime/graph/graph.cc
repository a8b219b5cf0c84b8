#include "simulator/runtime/graph/graph.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "simulator/runtime/graph/conditional.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/work/concurrency.h"
#include "simulator/runtime/work/executor.h"

namespace lockstep::runtime {
namespace {

void drop(std::map<UserObject*, unsigned>& kept) {
  for (const auto& [object, count] : std::exchange(kept, {})) release_user_object(object, count);
}

std::vector<const Graph*> graphs_within(const Work& work) {
  if (const auto* child = std::get_if<ChildWork>(&work)) return {child->graph.get()};
  std::vector<const Graph*> all;
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) {
    for (const auto& body : conditional->bodies) all.push_back(body.get());
  }
  return all;
}

}  // namespace

Graph::~Graph() { drop(kept); }
GraphExec::~GraphExec() {
  Runtime& runtime = Runtime::get();
  {
    const std::lock_guard lock(runtime.lock);
    for (const std::optional<Lane>& lane : branches) {
      if (lane) runtime.order.drop_lane(*lane);
    }
    if (conditions_lane) runtime.order.drop_lane(*conditions_lane);
  }
  drop(kept);
}

void release_user_object(UserObject* object, unsigned count) {
  object->count -= std::min(object->count, count);
  if (object->count != 0 || std::exchange(object->destroyed, true)) return;
  run_callback([&] { object->destroy(object->data); });
}

Graphs& graphs() {
  static auto* const all = new Graphs;
  return *all;
}

Graph* Graphs::create() {
  auto graph = std::make_unique<Graph>();
  graph->id = ++origins_;
  Graph* handle = graph.get();
  graphs_.emplace(handle, std::move(graph));
  return handle;
}

Graph* Graphs::find(cudaGraph_t handle) const {
  if (const auto it = graphs_.find(handle); it != graphs_.end()) return it->second.get();
  return children_.count(handle) != 0 ? reinterpret_cast<Graph*>(handle) : nullptr;
}

GraphNode* Graphs::find(cudaGraphNode_t handle) const {
  return nodes_.count(handle) != 0 ? reinterpret_cast<GraphNode*>(handle) : nullptr;
}

std::shared_ptr<GraphExec> Graphs::find(cudaGraphExec_t handle) const {
  const auto it = execs_.find(handle);
  return it == execs_.end() ? nullptr : it->second;
}

void Graphs::forget(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    nodes_.erase(node.get());
    for (const Graph* inner : graphs_within(node->work)) {
      children_.erase(inner);
      forget(*inner);
    }
  }
}

bool Graphs::destroy(Graph* graph) {
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) return false;
  forget(*graph);
  const std::unique_ptr<Graph> last = std::move(it->second);
  graphs_.erase(it);
  return true;
}

std::shared_ptr<Graph> Graphs::adopt(Graph* graph) {
  const auto it = graphs_.find(graph);
  if (it == graphs_.end()) return nullptr;
  std::shared_ptr<Graph> adopted = std::move(it->second);
  graphs_.erase(it);
  return adopted;
}

bool Graphs::destroy(cudaGraphExec_t exec) { return execs_.erase(exec) != 0; }

GraphNode* Graphs::add(Graph& graph, Work work, int device,
                       const std::vector<GraphNode*>& dependencies) {
  GraphNode& node = *graph.nodes.emplace_back(std::make_unique<GraphNode>());
  node.graph = &graph;
  node.work = std::move(work);
  node.device = device;
  node.origin = ++origins_;
  nodes_.insert(&node);
  for (const Graph* inner : graphs_within(node.work)) children_.insert(inner);
  for (GraphNode* before : dependencies) connect(*before, node);
  return &node;
}

void Graphs::remove(GraphNode& node) {
  for (GraphNode* before : node.from) std::erase(before->to, &node);
  for (GraphNode* after : node.to) std::erase(after->from, &node);
  nodes_.erase(&node);
  for (const Graph* inner : graphs_within(node.work)) {
    children_.erase(inner);
    forget(*inner);
  }
  node.graph->nodes.remove_if([&](const auto& n) { return n.get() == &node; });
}

bool Graphs::connect(GraphNode& from, GraphNode& to) {
  if (std::find(from.to.begin(), from.to.end(), &to) != from.to.end()) return false;
  from.to.push_back(&to);
  to.from.push_back(&from);
  return true;
}

bool Graphs::disconnect(GraphNode& from, GraphNode& to) {
  return std::erase(from.to, &to) + std::erase(to.from, &from) != 0;
}

void Graphs::copy_into(const Graph& graph, Graph& to) {
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : graph.nodes) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->graph = copy(*child->graph);
    GraphNode* made = add(to, std::move(work), node->device, {});
    made->origin = node->origin;
    copies.emplace(node.get(), made);
  }
  for (const auto& node : graph.nodes) {
    for (const GraphNode* before : node->from) connect(*copies.at(before), *copies.at(node.get()));
  }
  for (const auto& [object, count] : graph.kept) {
    object->count += count;
    to.kept[object] += count;
  }
}

std::shared_ptr<Graph> Graphs::make_body(Graph& parent) {
  auto made = std::make_shared<Graph>();
  made->id = ++origins_;
  made->parent = &parent;
  return made;
}

bool has_memory_nodes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    const auto* const child = std::get_if<ChildWork>(&node->work);
    return std::holds_alternative<AllocateWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work) ||
           (child != nullptr && has_memory_nodes(*child->graph));
  });
}

Graph* Graphs::clone(const Graph& graph) {
  Graph* made = create();
  copy_into(graph, *made);
  return made;
}

std::shared_ptr<Graph> Graphs::copy(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  made->id = ++origins_;
  copy_into(graph, *made);
  return made;
}

namespace {

// The branch of the step that was added last: that of a step before it which nothing has continued,
// or a new one. `ends`: by branch, its last step.
std::size_t branch_of(GraphExec& exec, const GraphExec::Step& step,
                      std::vector<std::size_t>& ends) {
  const std::size_t own = exec.steps.size() - 1;
  for (const std::size_t before : step.from) {
    const std::size_t branch = exec.steps[before].branch;
    if (ends[branch] == before) {
      ends[branch] = own;
      return branch;
    }
  }
  ends.push_back(own);
  exec.branches.emplace_back();
  return ends.size() - 1;
}

}  // namespace

std::shared_ptr<GraphExec> Graphs::instantiate(const Graph& graph) {
  auto exec = std::make_shared<GraphExec>();
  std::map<const GraphNode*, std::size_t> done;
  std::vector<std::size_t> ends;  // by branch: its last step
  // Whatever waits for nothing that is not yet there, in the order of the list: the same order
  // every time.
  while (done.size() < graph.nodes.size()) {
    bool progress = false;
    for (const auto& node : graph.nodes) {
      const auto ready = [&](const GraphNode* before) { return done.count(before) != 0; };
      if (done.count(node.get()) != 0 || !std::all_of(node->from.begin(), node->from.end(), ready))
        continue;
      GraphExec::Step& step = exec->steps.emplace_back();
      step.work = node->work;
      step.device = node->device;
      step.origin = node->origin;
      step.graph = graph.id;
      for (const GraphNode* before : node->from) step.from.push_back(done.at(before));
      step.branch = branch_of(*exec, step, ends);
      if (const auto* child = std::get_if<ChildWork>(&node->work)) {
        step.child = instantiate(*child->graph);
        if (!step.child) return nullptr;
      }
      if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
        for (const auto& body : conditional->bodies) {
          step.bodies.push_back(instantiate(*body));
          if (!step.bodies.back()) return nullptr;
        }
      }
      done.emplace(node.get(), exec->steps.size() - 1);
      progress = true;
    }
    if (!progress) return nullptr;
  }
  for (const auto& [object, count] : graph.kept) {
    object->count += count;
    exec->kept[object] += count;
  }
  return exec;
}

cudaGraphExec_t Graphs::enter(std::shared_ptr<GraphExec> exec) {
  const auto handle = reinterpret_cast<cudaGraphExec_t>(exec.get());
  execs_.emplace(handle, std::move(exec));
  return handle;
}

namespace {

// Checks all steps, before any of them is put into the queue.
cudaError_t check_steps(Runtime& runtime, const char* api_name, const GraphExec& exec) {
  for (const GraphExec::Step& step : exec.steps) {
    if (!step.enabled) continue;
    if (const cudaError_t error = step.child ? check_steps(runtime, api_name, *step.child)
                                             : check_work(runtime, api_name, step.work);
        error != cudaSuccess)
      return error;
    for (const auto& body : step.bodies) {
      if (const cudaError_t error = check_steps(runtime, api_name, *body); error != cudaSuccess)
        return error;
    }
  }
  return cudaSuccess;
}

template <class Kind, class Visit>
void each(const GraphExec& exec, Visit&& visit) {
  for (const GraphExec::Step& step : exec.steps) {
    if (step.child) each<Kind>(*step.child, visit);
    if (const auto* work = std::get_if<Kind>(&step.work)) visit(*work);
  }
}

// What an earlier launch has allocated, and nobody has freed, forbids the launch, or is freed now
// in the stream.
cudaError_t check_unfreed(Runtime& runtime, const char* api_name, const GraphExec& exec,
                          std::vector<std::shared_ptr<GraphAllocation>>* unfreed) {
  each<AllocateWork>(exec, [&](const AllocateWork& work) {
    if (work.memory->live) unfreed->push_back(work.memory);
  });
  if (unfreed->empty() || (exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0)
    return cudaSuccess;
  runtime.explain(api_name,
                  "memory that an earlier launch of the graph allocated has not been freed; "
                  "cudaGraphInstantiateFlagAutoFreeOnLaunch frees it at the next launch");
  return cudaErrorInvalidValue;
}

// What the graph frees that another one has allocated is allocated.
cudaError_t check_frees(Runtime& runtime, const char* api_name, const GraphExec& exec) {
  std::set<const GraphAllocation*> own;
  each<AllocateWork>(exec, [&](const AllocateWork& work) { own.insert(work.memory.get()); });
  cudaError_t error = cudaSuccess;
  each<FreeWork>(exec, [&](const FreeWork& work) {
    if (own.count(work.memory.get()) != 0 || work.memory->live || error != cudaSuccess) return;
    runtime.explain(api_name,
                    "the graph frees memory that another graph has not allocated, or "
                    "that has been freed since");
    error = cudaErrorInvalidValue;
  });
  return error;
}

void free_in_stream(Runtime& runtime, const char* api_name, Stream& stream,
                    const std::shared_ptr<GraphAllocation>& memory) {
  auto p = std::make_shared<Pending>();
  p->at = runtime.order.put(stream.order);
  p->device = memory->device;
  p->work = FreeWork{reinterpret_cast<void*>(memory->base), memory};
  p->api_name = api_name;
  p->caller = caller();
  p->late = true;
  runtime.graph_memory.end(runtime, *memory);
  runtime.queue.add(std::move(p));
}

// The launch has been put: what calls see of the graph's memory from now on.
void note_memory(Runtime& runtime, const GraphExec& exec) {
  each<AllocateWork>(exec, [&](const AllocateWork& work) {
    if (!work.memory->freed_by_owner) runtime.graph_memory.begin(runtime, work.memory);
  });
  each<FreeWork>(exec, [&](const FreeWork& work) {
    if (!work.memory->freed_by_owner) runtime.graph_memory.end(runtime, *work.memory);
  });
}

struct Launch : LaunchedBy {
  std::vector<std::shared_ptr<Pending>> put;
  bool stages = true;  // sources in pageable memory
};

// Whether a node writes pageable memory. Then the launch returns when it has, as on an H100.
bool writes_pageable_memory(const Runtime& runtime, const GraphExec& exec) {
  bool any = false;
  each<CopyWork>(exec, [&](const CopyWork& work) { any |= writes_pageable(runtime, work); });
  return any;
}

bool ends_in_the_call(const Runtime& runtime, const Pending& p) {
  const auto* const copy = std::get_if<CopyWork>(&p.work);
  return copy != nullptr &&
         (writes_pageable(runtime, *copy) || (p.staged.empty() && reads_pageable(runtime, *copy)));
}

// What is done where a step is put, and whether something is left to execute.
bool begin_step(Runtime& runtime, Pending& p) {
  if (const auto* record = std::get_if<RecordWork>(&p.work)) {
    Event* const event = runtime.streams.find_event(record->event);
    p.moment = event->recorded = std::make_shared<Moment>();
    event->stands_for = p.at.before;
    event->capture = nullptr;
  }
  return !std::holds_alternative<WaitWork>(p.work) && !std::holds_alternative<EmptyWork>(p.work);
}

// Puts a graph whose steps come after `start` into the queue. `end` covers them all.
void put_steps(Runtime& runtime, GraphExec& exec, const Clock& start, Launch& launch, Clock* end) {
  std::vector<Clock> done(exec.steps.size());
  for (std::size_t i = 0; i < exec.steps.size(); ++i) {
    GraphExec::Step& step = exec.steps[i];
    Clock after = start;
    for (const std::size_t before : step.from) after.join(done[before]);
    done[i] = after;
    if (!step.enabled) continue;  // its order stays
    if (step.child) {
      put_steps(runtime, *step.child, after, launch, &done[i]);
    } else {
      if (const auto* wait = std::get_if<WaitWork>(&step.work)) {
        const Event* const event = runtime.streams.find_event(wait->event);
        if (event != nullptr && event->stands_for) after.join(*event->stands_for);
      }
      auto p = make_entry(step, launch);
      p->at = runtime.order.step(exec.branches[step.branch], after, launch.stream);
      p->awaited = true;
      if (launch.stages) stage_source(runtime, *p);
      done[i] = p->at.before;
      if (!step.bodies.empty()) prepare_condition(runtime, exec, step, launch, *p, &done[i]);
      if (begin_step(runtime, *p)) {
        runtime.queue.add(p);
        runtime.host_watch.added(runtime, p);
        launch.put.push_back(std::move(p));
      }
    }
    end->join(done[i]);
  }
}

}  // namespace

cudaError_t launch_graph(Runtime& runtime, const char* api_name, GraphExec& exec, Stream& stream) {
  if (const cudaError_t error = check_steps(runtime, api_name, exec); error != cudaSuccess)
    return error;
  std::vector<std::shared_ptr<GraphAllocation>> unfreed;
  if (const cudaError_t error = check_unfreed(runtime, api_name, exec, &unfreed);
      error != cudaSuccess)
    return error;
  if (const cudaError_t error = check_frees(runtime, api_name, exec); error != cudaSuccess)
    return error;
  runtime.dependent_launches.end_chain();
  if (!unfreed.empty()) runtime.order.wait(stream.order, exec.launched);
  for (const auto& memory : unfreed) free_in_stream(runtime, api_name, stream, memory);
  note_memory(runtime, exec);
  Launch launch;
  launch.api_name = api_name;
  launch.caller = caller();
  launch.stream = stream.order.name;
  launch.stream.graph = true;
  launch.chain = runtime.dependent_launches.chain();
  Clock start = runtime.order.begin_graph(stream.order);
  start.join(exec.launched);
  if (auto p = begin_conditions(runtime, exec, start, launch)) {
    start = p->at.before;
    runtime.queue.add(p);
    launch.put.push_back(std::move(p));
  }
  Clock end = start;
  // A source is read in the call, unless a node of the graph may write it first.
  launch.stages = !writes_pageable_memory(runtime, exec);
  put_steps(runtime, exec, start, launch, &end);
  exec.launched = end;
  runtime.order.end_graph(stream.order, end);
  runtime.dependent_launches.end_chain();
  if (launch.put.empty()) return cudaSuccess;
  after_put(runtime);
  for (const auto& p : launch.put) {
    if (!p->done && ends_in_the_call(runtime, *p)) run_until(runtime, p->at.before);
  }
  if (runtime.settings.launch_blocking) wait_for(runtime, end);
  cudaError_t error = cudaSuccess;
  for (const auto& p : launch.put) {
    p->awaited = false;
    if (p->done && error == cudaSuccess) error = p->result;
  }
  return error;
}

bool replace_work(GraphExec::Step& step, Work work) {
  if (type_of(step.work) != type_of(work)) return false;
  if (const auto* now = std::get_if<CopyWork>(&step.work)) {
    // Only the addresses of one-dimensional copies may change, and the size with them; of others
    // the shape must stay.
    const cudaMemcpy3DParms &a = now->box, &b = std::get<CopyWork>(work).box;
    // As an H100 shows: another kind for the same memory, cudaMemcpyDefault included.
    if (a.kind != b.kind) return false;
    const bool lines =
        a.extent.height <= 1 && a.extent.depth <= 1 && b.extent.height <= 1 && b.extent.depth <= 1;
    if (!lines && (a.extent.width != b.extent.width || a.extent.height != b.extent.height ||
                   a.extent.depth != b.extent.depth))
      return false;
  }
  if (const auto* now = std::get_if<FillWork>(&step.work)) {
    // Rows stay as they are (cudaGraphExecMemsetNodeSetParams).
    const cudaMemsetParams &a = now->rows, &b = std::get<FillWork>(work).rows;
    if (a.height != b.height) return false;
    if (a.height > 1 &&
        (a.width != b.width || a.elementSize != b.elementSize || a.pitch != b.pitch))
      return false;
  }
  if (const auto* now = std::get_if<AllocateWork>(&step.work)) {
    if (now->memory != std::get<AllocateWork>(work).memory) return false;
  }
  if (const auto* now = std::get_if<ConditionalWork>(&step.work)) {
    const auto& other = std::get<ConditionalWork>(work);
    if (now->type != other.type || now->bodies.size() != other.bodies.size()) return false;
  }
  if (const auto* now = std::get_if<FreeWork>(&step.work)) {
    if (now->memory != std::get<FreeWork>(work).memory) return false;
  }
  step.work = std::move(work);
  return true;
}

cudaGraphExecUpdateResult update(GraphExec& exec, const Graph& graph,
                                 const GraphNode** error_node) {
  const auto changed = Graphs::instantiate(graph);
  if (!changed || changed->steps.size() != exec.steps.size())
    return cudaGraphExecUpdateErrorTopologyChanged;
  std::map<std::uint64_t, const GraphNode*> by_origin;
  for (const auto& node : graph.nodes) by_origin.emplace(node->origin, node.get());
  for (std::size_t i = 0; i < exec.steps.size(); ++i) {
    GraphExec::Step &old = exec.steps[i], &step = changed->steps[i];
    *error_node = by_origin.at(step.origin);
    if (type_of(old.work) != type_of(step.work)) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (old.from != step.from) return cudaGraphExecUpdateErrorTopologyChanged;
  }
  for (std::size_t i = 0; i < exec.steps.size(); ++i) {
    GraphExec::Step &old = exec.steps[i], &step = changed->steps[i];
    *error_node = by_origin.at(step.origin);
    if (old.child) {
      const GraphNode* inner = nullptr;
      const auto result = update(*old.child, *std::get<ChildWork>(step.work).graph, &inner);
      if (result != cudaGraphExecUpdateSuccess) return result;
    }
    for (std::size_t body = 0; body < old.bodies.size(); ++body) {
      const auto& graphs_of_it = std::get<ConditionalWork>(step.work).bodies;
      const GraphNode* inner = nullptr;
      const auto result = body < graphs_of_it.size()
                              ? update(*old.bodies[body], *graphs_of_it[body], &inner)
                              : cudaGraphExecUpdateErrorParametersChanged;
      if (result != cudaGraphExecUpdateSuccess) return result;
    }
    if (!replace_work(old, std::move(step.work))) return cudaGraphExecUpdateErrorParametersChanged;
    if (old.origin != step.origin) old.graph = step.graph;
    old.origin = step.origin;
  }
  exec.conditions = conditions_of(graph);
  std::swap(exec.kept, changed->kept);  // what the new graph keeps, instead of what the old one did
  *error_node = nullptr;
  return cudaGraphExecUpdateSuccess;
}

}  // namespace lockstep::runtime
