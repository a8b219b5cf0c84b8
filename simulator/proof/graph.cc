#include "simulator/proof/graph.h"

#include <algorithm>
#include <functional>
#include <set>

namespace lockstep::proof {

using program::Action;
using program::Op;
using program::Slot;

namespace {

constexpr std::uint32_t kMostOperations = 20000;
constexpr std::size_t kMostBlocks = 1000;

// The nearest dominators from `root` on, in a graph whose edges `before` lists; -1: not reached.
// `order`: receives the blocks, each after its dominators.
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

std::unique_ptr<Graph> Graph::make(const program::Program& program,
                                   const program::Function& kernel) {
  std::unique_ptr<Graph> g(new Graph(program));
  if (kernel.calls || kernel.refusal || !g->cut(kernel) || !g->find_loops()) return nullptr;
  g->find_definitions();
  return g;
}

bool Graph::cut(const program::Function& kernel) {
  begin_ = kernel.entry;
  end_ = kernel.end;
  if (end_ <= begin_ || end_ - begin_ > kMostOperations) return false;
  std::set<std::uint32_t> starts{begin_};
  const auto ends_block = [](const Op& op) {
    return op.action == Action::kBranch || op.action == Action::kExit ||
           op.action == Action::kReturn;
  };
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
    // A barrier begins a block, so that what comes behind it is apart from what comes before.
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
  const auto join = [&](int from, int to) {
    auto& after = blocks_[static_cast<std::size_t>(from)].after;
    if (std::find(after.begin(), after.end(), to) != after.end()) return;
    after.push_back(to);
    blocks_[static_cast<std::size_t>(to)].before.push_back(from);
  };
  for (int b = 0; b < count; ++b) {
    const Op& last = program_.ops[blocks_[static_cast<std::size_t>(b)].end - 1];
    const bool branches = last.action == Action::kBranch;
    const bool always = ends_block(last) && last.guard == program::kNoSlot;
    if (!always) {
      if (b + 1 == count) return false;
      join(b, b + 1);
    }
    if (branches) join(b, block_of(last.as<program::BranchFields>().target()));
  }
  const auto before = [&](int b) -> const std::vector<int>& {
    return blocks_[static_cast<std::size_t>(b)].before;
  };
  const auto after = [&](int b) -> const std::vector<int>& {
    return blocks_[static_cast<std::size_t>(b)].after;
  };
  std::vector<int> nearest = dominators(count, 0, before, after, order_);
  for (int b = 0; b < count; ++b)
    blocks_[static_cast<std::size_t>(b)].dominator = nearest[static_cast<std::size_t>(b)];
  // The same from behind: `count` is the end of the kernel, where every exit leads.
  std::vector<std::vector<int>> back(static_cast<std::size_t>(count) + 1),
      forth(static_cast<std::size_t>(count) + 1);
  for (int b = 0; b < count; ++b) {
    back[static_cast<std::size_t>(b)] = after(b);
    const Op& last = program_.ops[blocks_[static_cast<std::size_t>(b)].end - 1];
    if (last.action == Action::kExit || last.action == Action::kReturn)
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

bool Graph::find_loops() {
  std::vector<int> place(blocks_.size(), -1);
  for (std::size_t i = 0; i < order_.size(); ++i)
    place[static_cast<std::size_t>(order_[i])] = static_cast<int>(i);
  for (const int header : order_) {
    std::vector<int> latches;
    for (const int p : blocks_[static_cast<std::size_t>(header)].before) {
      if (place[static_cast<std::size_t>(p)] < 0) continue;  // never reached
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
    // Headers come in order, so what is around a loop is known when it is met.
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

int Graph::origin(int node) {
  if (nodes_[static_cast<std::size_t>(node)].kind != Node::Kind::kJoin) return node;
  if (const auto known = origins_.find(node); known != origins_.end())
    return known->second == node ? node : origin(known->second);
  origins_[node] = node;
  int only = -1;
  const std::vector<int> from = nodes_[static_cast<std::size_t>(node)].from;
  for (const int f : from) {
    const int o = origin(f);
    if (o == node || o == only) continue;
    if (only >= 0) return node;
    only = o;
  }
  return only < 0 ? node : origins_[node] = only;
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
  // A block that can be reached from nowhere, and the first: what is there is not defined.
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
