#include "simulator/runtime/graph/conditional.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/condition.h"
#include "simulator/runtime/work/concurrency.h"
#include "simulator/runtime/work/executor.h"

namespace lockstep::runtime {
namespace {

// Numbers for so many executions of a body in one launch.
constexpr std::uint32_t kRuns = 64;
// As many warp instructions, of the limit for a block, as an execution of a while node's body
// counts.
constexpr std::uint64_t kInstructionsOfARun = 1 << 16;

struct Run;

// A graph within a conditional node, as one launch executes it.
struct Body {
  struct Step {
    GraphExec::Step step;
    std::shared_ptr<Body> child;  // of a child graph
    std::shared_ptr<Run> run;     // of a conditional node
  };
  std::vector<Step> steps;
  std::vector<Reserved> lanes;  // by branch
};

// A conditional node, as one launch executes it.
struct Run {
  LaunchedBy by;
  std::shared_ptr<Condition> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  Reserved lane;  // of the node itself
  std::vector<Body> bodies;
  std::uint64_t executions = 0;  // of a while node's body, in this launch
};

std::shared_ptr<Run> make_run(Runtime& runtime, std::optional<Lane>& lane, GraphExec::Step& step,
                              const LaunchedBy& by, Clock* end);

Body make_body(Runtime& runtime, GraphExec& exec, const LaunchedBy& by, Clock* end) {
  Body body;
  std::vector<std::uint32_t> counts(exec.branches.size());
  for (const GraphExec::Step& step : exec.steps) counts[step.branch] += kRuns;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    body.lanes.push_back(runtime.order.reserve(exec.branches[i], counts[i]));
    end->raise(body.lanes[i].lane, body.lanes[i].last);
  }
  for (GraphExec::Step& step : exec.steps) {
    Body::Step& made = body.steps.emplace_back();
    made.step = step;
    if (step.child) made.child = std::make_shared<Body>(make_body(runtime, *step.child, by, end));
    if (!step.bodies.empty())
      made.run = make_run(runtime, exec.branches[step.branch], step, by, end);
  }
  return body;
}

std::shared_ptr<Run> make_run(Runtime& runtime, std::optional<Lane>& lane, GraphExec::Step& step,
                              const LaunchedBy& by, Clock* end) {
  const auto& work = std::get<ConditionalWork>(step.work);
  auto run = std::make_shared<Run>();
  run->by = by;
  run->condition = work.condition;
  run->type = work.type;
  run->lane = runtime.order.reserve(lane, kRuns);
  end->raise(run->lane.lane, run->lane.last);
  for (const auto& body : step.bodies) run->bodies.push_back(make_body(runtime, *body, by, end));
  return run;
}

cudaError_t decide(Runtime& runtime, const std::shared_ptr<Run>& run, Pending& p);

// Puts a body that comes after `start` behind `*last`, which becomes the last entry put.
Clock put_body(Runtime& runtime, const std::shared_ptr<Run>& run, Body& body, const Clock& start,
               std::shared_ptr<Entry>* last) {
  Clock end = start;
  std::vector<Clock> done;
  for (Body::Step& s : body.steps) {
    Clock after = start;
    for (const std::size_t before : s.step.from) after.join(done[before]);
    if (s.child) {
      done.push_back(put_body(runtime, run, *s.child, after, last));
    } else if (!s.step.enabled || std::holds_alternative<EmptyWork>(s.step.work)) {
      done.push_back(after);
    } else {
      auto p = make_entry(s.step, run->by);
      p->at = body.lanes[s.step.branch].next(after, run->by.stream);
      Clock last_of_it = p->at.before;
      if (s.run) {
        // What comes after it in the body is put now, and covers all that the node may execute.
        p->expand = [nested = s.run](Runtime& r, Pending& entry) {
          return decide(r, nested, entry);
        };
        const auto cover = [&](const auto& self, const Run& r) -> void {
          last_of_it.raise(r.lane.lane, r.lane.last);
          for (const Body& b : r.bodies) {
            for (const Reserved& lane : b.lanes) last_of_it.raise(lane.lane, lane.last);
            for (const Body::Step& inner : b.steps)
              if (inner.run) self(self, *inner.run);
          }
        };
        cover(cover, *s.run);
      }
      runtime.queue.insert_behind(**last, p);
      runtime.host_watch.added(runtime, p);
      *last = p;
      done.push_back(std::move(last_of_it));
    }
    end.join(done.back());
  }
  return end;
}

// The value that the node sees. Nobody may have given it one.
unsigned read(Runtime& runtime, const Run& run, const Pending& p) {
  const memory::Address word = run.condition->word;
  check_order(runtime, p.api_name, p.at, memory::Box::line(word, sizeof(unsigned)), Touch::kReads);
  const memory::Allocation* const a = runtime.memory->find(word);
  unsigned value = 0;
  if (a == nullptr || a->freed) return value;  // the device was reset
  if (!runtime.memory->is_written(word, sizeof value)) {
    check::Finding f;
    f.kind = check::Kind::kUninitialised;
    f.space = "global";
    f.call = p.api_name;
    f.access.address = word;
    f.where = "a conditional node of the graph of " + std::string(p.api_name) + p.at.stream.in() +
              " reads a condition that has no value in this launch";
    f.detail =
        "cudaGraphCondAssignDefault gives it one at the beginning of each launch, and a kernel "
        "before the node by cudaGraphSetConditional. What an earlier launch has set does not last.";
    const void* const from = caller();
    f.access.operation = describe_caller(from);
    f.caller = from;
    if ((runtime.settings.checks & check::kInitialisation) != 0) runtime.report({std::move(f)});
    return value;
  }
  std::memcpy(&value, runtime.memory->host(*a, word), sizeof value);
  return value;
}

// A while node whose value does not become zero.
cudaError_t report_endless(Runtime& runtime, const Run& run, unsigned value, const Pending& p) {
  check::Finding f;
  f.kind = check::Kind::kTimeLimit;
  f.space = "global";
  f.call = p.api_name;
  f.access.address = run.condition->word;
  f.where = "a while node of the graph of " + std::string(p.api_name) + p.at.stream.in() +
            " has executed its body " + std::to_string(run.executions) +
            " times, and its value is still " + std::to_string(value);
  f.detail = "The body ends the loop by cudaGraphSetConditional with 0. Each execution counts as " +
             std::to_string(kInstructionsOfARun) +
             " warp instructions of LOCKSTEP_INSTRUCTION_LIMIT.";
  const void* const from = caller();
  f.access.operation = describe_caller(from);
  f.caller = from;
  runtime.report({std::move(f)});
  return static_cast<cudaError_t>(check::cuda_error(check::Kind::kTimeLimit));
}

cudaError_t decide(Runtime& runtime, const std::shared_ptr<Run>& run, Pending& p) {
  const unsigned value = read(runtime, *run, p);
  std::size_t body = run->bodies.size();  // none
  switch (run->type) {
    case cudaGraphCondTypeIf: body = value != 0 ? 0 : 1; break;
    case cudaGraphCondTypeWhile: body = value != 0 ? 0 : 1; break;
    case cudaGraphCondTypeSwitch: body = value; break;
  }
  if (body >= run->bodies.size()) return cudaSuccess;
  const std::uint64_t limit = runtime.settings.instruction_limit;
  if (run->type == cudaGraphCondTypeWhile && limit != 0) {
    if (run->executions == std::max<std::uint64_t>(limit / kInstructionsOfARun, 1))
      return report_endless(runtime, *run, value, p);
    ++run->executions;
  }
  std::shared_ptr<Entry> last = runtime.queue.entry(p);
  const Clock end = put_body(runtime, run, run->bodies[body], p.at.before, &last);
  if (run->type != cudaGraphCondTypeWhile) return cudaSuccess;
  auto again = std::make_shared<Pending>();
  again->work = p.work;
  again->device = p.device;
  again->api_name = p.api_name;
  again->caller = p.caller;
  again->late = true;
  again->chain = p.chain;
  again->at = run->lane.next(end, run->by.stream);
  again->expand = p.expand;
  runtime.queue.insert_behind(*last, std::move(again));
  return cudaSuccess;
}

}  // namespace

std::shared_ptr<Pending> make_entry(const GraphExec::Step& step, const LaunchedBy& by) {
  auto p = std::make_shared<Pending>();
  p->device = step.device;
  p->for_host = std::holds_alternative<HostWork>(step.work);
  p->work = step.work;
  p->api_name = by.api_name;
  p->caller = by.caller;
  p->late = true;
  p->chain = by.chain;
  return p;
}

void prepare_condition(Runtime& runtime, GraphExec& exec, GraphExec::Step& step,
                       const LaunchedBy& by, Pending& entry, Clock* end) {
  auto run = make_run(runtime, exec.branches[step.branch], step, by, end);
  entry.expand = [run = std::move(run)](Runtime& r, Pending& p) { return decide(r, run, p); };
}

std::shared_ptr<Pending> begin_conditions(Runtime& runtime, GraphExec& exec, const Clock& start,
                                          const LaunchedBy& by) {
  if (exec.conditions.empty()) return nullptr;
  auto p = std::make_shared<Pending>();
  p->at = runtime.order.step(exec.conditions_lane, start, by.stream);
  p->device = exec.conditions.front()->device;
  p->work = EmptyWork{};
  p->api_name = by.api_name;
  p->caller = by.caller;
  p->late = true;
  p->chain = by.chain;
  p->expand = [conditions = exec.conditions](Runtime& r, Pending& entry) {
    for (const auto& c : conditions) {
      const memory::Allocation* const a = r.memory->find(c->word);
      if (a == nullptr || a->freed) continue;
      check_order(r, entry.api_name, entry.at, memory::Box::line(c->word, sizeof(unsigned)),
                  Touch::kWrites);
      if (c->assigns_default) {
        std::memcpy(r.memory->host(*a, c->word), &c->default_value, sizeof c->default_value);
        r.memory->mark_written(c->word, sizeof c->default_value);
      } else {
        r.memory->mark_unwritten(c->word, sizeof c->default_value);
      }
    }
    return cudaSuccess;
  };
  return p;
}

cudaError_t conditional_work(Runtime& r, const char* api_name, Graph& graph,
                             cudaConditionalNodeParams* params, Work* work) {
  const auto refuse = [&](const char* why) {
    r.explain(api_name, why);
    return cudaErrorInvalidValue;
  };
  ConditionalWork made;
  for (const Graph* g = &graph; g != nullptr && !made.condition; g = g->parent) {
    for (const auto& condition : g->conditions) {
      if (condition->handle() == params->handle) made.condition = condition;
    }
  }
  if (!made.condition)
    return refuse("the conditional handle was not made for this graph, or for one that has it");
  if (made.condition->used) return refuse("another node has the conditional handle");
  made.type = params->type;
  const bool fits = params->type == cudaGraphCondTypeIf ? params->size == 1 || params->size == 2
                    : params->type == cudaGraphCondTypeWhile
                        ? params->size == 1
                        : params->type == cudaGraphCondTypeSwitch && params->size >= 1;
  if (!fits)
    return refuse("if nodes have one or two bodies, while nodes one, switch nodes one or more");
  for (unsigned i = 0; i < params->size; ++i) {
    auto body = graphs().make_body(graph);
    made.handles.push_back(reinterpret_cast<cudaGraph_t>(body.get()));
    made.bodies.push_back(std::move(body));
  }
  made.condition->used = true;
  params->phGraph_out = made.handles.data();  // moves with the node's work
  *work = std::move(made);
  return cudaSuccess;
}

namespace {

// Visits the graphs of the nodes of a graph.
template <class Visit>
bool any_within(const Graph& graph, Visit&& visit) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    if (const auto* const child = std::get_if<ChildWork>(&node->work)) return visit(*child->graph);
    const auto* const conditional = std::get_if<ConditionalWork>(&node->work);
    return conditional != nullptr &&
           std::any_of(conditional->bodies.begin(), conditional->bodies.end(),
                       [&](const auto& body) { return visit(*body); });
  });
}

bool is_allowed_body(const Graph& body) {
  for (const auto& node : body.nodes) {
    switch (type_of(node->work)) {
      case cudaGraphNodeTypeKernel:
      case cudaGraphNodeTypeMemcpy:
      case cudaGraphNodeTypeMemset:
      case cudaGraphNodeTypeGraph:
      case cudaGraphNodeTypeEmpty:
      case cudaGraphNodeTypeConditional: break;
      default: return false;
    }
  }
  return !any_within(body, [](const Graph& inner) { return !is_allowed_body(inner); });
}

}  // namespace

bool has_conditional_nodes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const auto& node) {
                       return std::holds_alternative<ConditionalWork>(node->work);
                     }) ||
         any_within(graph, [](const Graph& inner) { return has_conditional_nodes(inner); });
}

bool bodies_are_allowed(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (const auto* const conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies)
        if (!is_allowed_body(*body)) return false;
    }
  }
  return true;
}

std::vector<std::shared_ptr<Condition>> conditions_of(const Graph& graph) {
  std::vector<std::shared_ptr<Condition>> all = graph.conditions;
  any_within(graph, [&](const Graph& inner) {
    const auto more = conditions_of(inner);
    all.insert(all.end(), more.begin(), more.end());
    return false;
  });
  return all;
}

}  // namespace lockstep::runtime
