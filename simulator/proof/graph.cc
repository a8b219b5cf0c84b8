#include "simulator/proof/graph.h"

#include <algorithm>
#include <functional>

namespace lockstep::proof {

using program::Action;
using program::Op;
using program::Slot;

namespace {

constexpr std::uint32_t kMostOperations = 20000;
constexpr std::size_t kMostBlocks = 1000;

// Computes the immediate dominators from `root` in a graph with predecessors `before`; -1 for
// unreached blocks. `order` receives the blocks, each after its dominators.
std::vector<int> dominators(int count, int root,
                            const std::function<const std::vector<int>&(int)>& before,
                            const std::function<const std::vector<int>&(int)>& after,
                            std::vector<int>& order) {
  std::vector<int> number(static_cast<std::size_t>(count), -1);
  std::vector<std::pair<int, std::size_t>> stack{{root, 0}};
  std::vector<bool> seen(static_cast<std::size_t>(count));
  seen[static_cast<std::size_t>(root)] = true;
  order.clear();
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < after(block).size()) {
      const int to = after(block)[next++];
      if (!seen[static_cast<std::size_t>(to)]) {
        seen[static_cast<std::size_t>(to)] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    number[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  std::vector<int> nearest(static_cast<std::size_t>(count), -1);
  nearest[static_cast<std::size_t>(root)] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (const int b : order) {
      if (b == root) continue;
      int now = -1;
      for (const int p : before(b)) {
        if (nearest[static_cast<std::size_t>(p)] < 0) continue;
        int q = p;
        while (now >= 0 && q != now) {
          int& later =
              number[static_cast<std::size_t>(q)] > number[static_cast<std::size_t>(now)] ? q : now;
          later = nearest[static_cast<std::size_t>(later)];
        }
        now = q;
      }
      if (nearest[static_cast<std::size_t>(b)] != now) {
        nearest[static_cast<std::size_t>(b)] = now;
        changed = true;
      }
    }
  }
  return nearest;
}

}  // namespace

std::unique_ptr<Graph> Graph::make(const program::Program& program, const program::Function& kernel,
                                   const Decided& decided) {
  std::unique_ptr<Graph> g(new Graph(program));
  if (kernel.calls || kernel.refusal || !g->cut(kernel, decided) || !g->find_loops())
    return nullptr;
  g->find_definitions();
  return g;
}

namespace {

bool ends_block(const Op& op) {
  return op.action == Action::kBranch || op.action == Action::kExit || op.action == Action::kReturn;
}

// Whether threads execute an operation with a predicate always, never, or sometimes.
enum class Goes { kAlways, kNever, kSome };
Goes goes(const Op& op, std::uint32_t pc, const Decided& decided) {
  if (op.guard == program::kNoSlot) return Goes::kAlways;
  const auto known = decided.find(pc);
  return known == decided.end() ? Goes::kSome : known->second ? Goes::kAlways : Goes::kNever;
}

}  // namespace

void Graph::join_blocks(const Decided& decided) {
  const int count = static_cast<int>(blocks_.size());
  const auto join = [&](int from, int to) {
    auto& after = blocks_[static_cast<std::size_t>(from)].after;
    if (std::find(after.begin(), after.end(), to) != after.end()) return;
    after.push_back(to);
    blocks_[static_cast<std::size_t>(to)].before.push_back(from);
  };
  for (int b = 0; b < count; ++b) {
    const std::uint32_t pc = blocks_[static_cast<std::size_t>(b)].end - 1;
    const Op& last = program_.ops[pc];
    const Goes how = ends_block(last) ? goes(last, pc, decided) : Goes::kNever;
    if (how != Goes::kAlways) join(b, b + 1);
    if (how != Goes::kNever && last.action == Action::kBranch)
      join(b, block_of(last.as<program::BranchFields>().target()));
  }
}

// Removes blocks that no path from the entry reaches, so that they contribute no values.
void Graph::drop_unreached() {
  std::vector<bool> reached(blocks_.size());
  std::vector<int> todo{0};
  while (!todo.empty()) {
    const auto b = static_cast<std::size_t>(todo.back());
    todo.pop_back();
    if (reached[b]) continue;
    reached[b] = true;
    todo.insert(todo.end(), blocks_[b].after.begin(), blocks_[b].after.end());
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!reached[b]) blocks_[b].after.clear();
    std::erase_if(blocks_[b].before,
                  [&](int from) { return !reached[static_cast<std::size_t>(from)]; });
  }
}

bool Graph::cut(const program::Function& kernel, const Decided& decided) {
  begin_ = kernel.entry;
  end_ = kernel.end;
  if (end_ <= begin_ || end_ - begin_ > kMostOperations) return false;
  std::set<std::uint32_t> starts{begin_};
  for (std::uint32_t pc = begin_; pc < end_; ++pc) {
    const Op& op = program_.ops[pc];
    if (op.action == Action::kBranchTable || op.action == Action::kCall ||
        op.action == Action::kTrap)
      return false;
    if (op.action == Action::kBranch) {
      const std::uint32_t target = op.as<program::BranchFields>().target();
      if (target < begin_ || target >= end_) return false;
      starts.insert(target);
    }
    // Splits after a barrier, so that the code before and after it lies in different blocks.
    if ((ends_block(op) || op.action == Action::kBarrier) && pc + 1 < end_) starts.insert(pc + 1);
  }
  if (starts.size() > kMostBlocks) return false;
  block_of_.assign(end_ - begin_, 0);
  for (auto it = starts.begin(); it != starts.end(); ++it) {
    const auto next = std::next(it);
    blocks_.push_back({});
    blocks_.back().begin = *it;
    blocks_.back().end = next == starts.end() ? end_ : *next;
    for (std::uint32_t pc = blocks_.back().begin; pc < blocks_.back().end; ++pc)
      block_of_[pc - begin_] = static_cast<int>(blocks_.size()) - 1;
  }
  const int count = static_cast<int>(blocks_.size());
  const Op& end = program_.ops[end_ - 1];
  if (!ends_block(end) || end.guard != program::kNoSlot)
    return false;  // execution would run past the kernel's end
  join_blocks(decided);
  drop_unreached();
  const auto before = [&](int b) -> const std::vector<int>& {
    return blocks_[static_cast<std::size_t>(b)].before;
  };
  const auto after = [&](int b) -> const std::vector<int>& {
    return blocks_[static_cast<std::size_t>(b)].after;
  };
  std::vector<int> nearest = dominators(count, 0, before, after, order_);
  for (int b = 0; b < count; ++b)
    blocks_[static_cast<std::size_t>(b)].dominator = nearest[static_cast<std::size_t>(b)];
  // The same on the reversed graph. `count` is the end of the kernel, the target of every exit.
  std::vector<std::vector<int>> back(static_cast<std::size_t>(count) + 1),
      forth(static_cast<std::size_t>(count) + 1);
  for (int b = 0; b < count; ++b) {
    back[static_cast<std::size_t>(b)] = after(b);
    const Op& last = program_.ops[blocks_[static_cast<std::size_t>(b)].end - 1];
    const bool leaves = last.action == Action::kExit || last.action == Action::kReturn;
    if (leaves && goes(last, blocks_[static_cast<std::size_t>(b)].end - 1, decided) != Goes::kNever)
      back[static_cast<std::size_t>(b)].push_back(count);
    for (const int to : back[static_cast<std::size_t>(b)])
      forth[static_cast<std::size_t>(to)].push_back(b);
  }
  std::vector<int> unused;
  nearest = dominators(
      count + 1, count,
      [&](int b) -> const std::vector<int>& { return back[static_cast<std::size_t>(b)]; },
      [&](int b) -> const std::vector<int>& { return forth[static_cast<std::size_t>(b)]; }, unused);
  for (int b = 0; b < count; ++b) {
    const int post = nearest[static_cast<std::size_t>(b)];
    blocks_[static_cast<std::size_t>(b)].post_dominator = post == count ? -1 : post;
  }
  return true;
}

bool Graph::dominates(int a, int b) const {
  for (;;) {
    if (a == b) return true;
    const int up = blocks_[static_cast<std::size_t>(b)].dominator;
    if (up == b || up < 0) return false;
    b = up;
  }
}

bool Graph::leads(int from, int to, int without) const {
  std::vector<bool> seen(blocks_.size());
  std::vector<int> todo = blocks_[static_cast<std::size_t>(from)].after;
  while (!todo.empty()) {
    const int at = todo.back();
    todo.pop_back();
    if (at == without || seen[static_cast<std::size_t>(at)]) continue;
    if (at == to) return true;
    seen[static_cast<std::size_t>(at)] = true;
    const auto& after = blocks_[static_cast<std::size_t>(at)].after;
    todo.insert(todo.end(), after.begin(), after.end());
  }
  return false;
}

bool Graph::find_loops() {
  std::vector<int> place(blocks_.size(), -1);
  for (std::size_t i = 0; i < order_.size(); ++i)
    place[static_cast<std::size_t>(order_[i])] = static_cast<int>(i);
  for (const int header : order_) {
    std::vector<int> latches;
    for (const int p : blocks_[static_cast<std::size_t>(header)].before) {
      if (place[static_cast<std::size_t>(p)] < 0) continue;  // unreached
      if (place[static_cast<std::size_t>(p)] < place[static_cast<std::size_t>(header)]) continue;
      if (!dominates(header, p)) return false;
      latches.push_back(p);
    }
    if (latches.empty()) continue;
    Loop loop;
    loop.header = header;
    loop.latch = latches.size() == 1 ? latches[0] : -1;
    loop.holds.assign(blocks_.size(), false);
    loop.holds[static_cast<std::size_t>(header)] = true;
    while (!latches.empty()) {
      const int b = latches.back();
      latches.pop_back();
      if (loop.holds[static_cast<std::size_t>(b)]) continue;
      loop.holds[static_cast<std::size_t>(b)] = true;
      for (const int p : blocks_[static_cast<std::size_t>(b)].before) {
        if (place[static_cast<std::size_t>(p)] >= 0) latches.push_back(p);
      }
    }
    const int index = static_cast<int>(loops_.size());
    // Headers are visited in order, so the enclosing loop is known.
    loop.outer = blocks_[static_cast<std::size_t>(header)].loop;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (loop.holds[b]) blocks_[b].loop = index;
    }
    loops_.push_back(std::move(loop));
  }
  return true;
}

int Graph::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

void Graph::find_definitions() {
  writes_.resize(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (std::uint32_t pc = blocks_[b].begin; pc < blocks_[b].end; ++pc) {
      for (std::uint32_t u = program_.use_begin[pc]; u < program_.use_begin[pc + 1]; ++u) {
        const program::OperandUse& use = program_.uses[u];
        if (use.role != program::OperandUse::Role::kWrite) continue;
        const bool guarded = program_.ops[pc].guard != program::kNoSlot;
        const bool first = use.slot == program_.ops[pc].dst;
        const int n = add({guarded ? Node::Kind::kSelect
                           : first ? Node::Kind::kOperation
                                   : Node::Kind::kUnknown,
                           pc,
                           static_cast<int>(b),
                           use.slot,
                           {}});
        writes_[b][use.slot].emplace_back(pc, n);
      }
    }
  }
}

int Graph::read(Slot slot, std::uint32_t pc) {
  const int b = block_of(pc);
  const auto it = writes_[static_cast<std::size_t>(b)].find(slot);
  if (it != writes_[static_cast<std::size_t>(b)].end()) {
    int found = -1;
    for (const auto& [at, n] : it->second) {
      if (at < pc) found = n;
    }
    if (found >= 0) return found;
  }
  return at_begin(slot, b);
}

// The single node behind a join, if all its operands have the same value; otherwise the join
// itself. Joins of a loop depend on each other. They are first assumed to have no value; whenever
// one turns out to have several, the others are evaluated again.
int Graph::origin(int node) {
  const auto is_join = [&](int n) {
    return nodes_[static_cast<std::size_t>(n)].kind == Node::Kind::kJoin;
  };
  if (!is_join(node)) return node;
  if (const auto known = origins_.find(node); known != origins_.end()) return known->second;
  std::vector<int> joins{node};
  std::map<int, int> value{{node, -1}};
  for (std::size_t i = 0; i < joins.size(); ++i) {
    for (const int f : nodes_[static_cast<std::size_t>(joins[i])].from) {
      if (is_join(f) && origins_.count(f) == 0 && value.emplace(f, -1).second) joins.push_back(f);
    }
  }
  const auto value_of = [&](int n) {
    if (!is_join(n)) return n;
    const auto known = origins_.find(n);
    return known != origins_.end() ? known->second : value.at(n);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const int j : joins) {
      int& mine = value.at(j);
      if (mine == j) continue;
      int only = -1;
      for (const int f : nodes_[static_cast<std::size_t>(j)].from) {
        const int v = value_of(f);
        if (v < 0 || v == j || v == only) continue;
        only = only < 0 ? v : j;
        if (only == j) break;
      }
      if (only == mine) continue;
      changed = true;
      mine = only;
      if (only != j) continue;
      // Values derived from this join were wrong.
      for (auto& [join, v] : value) v = v == join ? v : -1;
      break;
    }
  }
  for (const int j : joins) origins_[j] = value.at(j) < 0 ? j : value.at(j);
  return origins_.at(node);
}

int Graph::at_end(Slot slot, int block) {
  const auto it = writes_[static_cast<std::size_t>(block)].find(slot);
  return it != writes_[static_cast<std::size_t>(block)].end() ? it->second.back().second
                                                              : at_begin(slot, block);
}

int Graph::at_begin(Slot slot, int block) {
  const auto known = begins_.find({block, slot});
  if (known != begins_.end()) return known->second;
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  // An unreached block or the entry: the register is undefined there.
  const int n = add({b.before.empty() || block == 0 ? Node::Kind::kUnknown : Node::Kind::kJoin,
                     0,
                     block,
                     slot,
                     {}});
  begins_[{block, slot}] = n;
  if (nodes_[static_cast<std::size_t>(n)].kind == Node::Kind::kUnknown) return n;
  std::vector<int> from;
  for (const int p : b.before) from.push_back(at_end(slot, p));
  nodes_[static_cast<std::size_t>(n)].from = std::move(from);
  return n;
}

}  // namespace lockstep::proof
