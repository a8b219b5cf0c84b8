#include "simulator/proof/written.h"

#include <algorithm>
#include <optional>
#include <set>

#include "simulator/proof/barriers.h"

namespace lockstep::proof {

using isa::Space;
using program::Action;
using program::Op;

namespace {

constexpr std::uint64_t kMostBytesRead = 1 << 18;  // bytes of all threads that one load reads

// Determines the threads that certainly execute an operation.
class Stores {
 public:
  Stores(const Graph& graph, Values& values) : graph_(graph), values_(values) {}

  // The threads that execute the operation at `pc` whenever they execute block `until`. Climbs from
  // the operation's block to a dominator that also dominates `until`. nullopt if unknown.
  std::optional<std::vector<bool>> surely(std::uint32_t pc, int until) {
    std::vector<bool> threads(values_.threads(), true);
    if (!graph_.is_reached(graph_.block_of(pc)) || !graph_.is_reached(until)) return std::nullopt;
    const program::Program& p = graph_.program();
    const Op& op = p.ops[pc];
    if (op.guard != program::kNoSlot && !keep(op.guard, pc, !op.guard_negated, &threads))
      return std::nullopt;
    for (int b = graph_.block_of(pc); !graph_.dominates(b, until);) {
      const Block& at = graph_.blocks()[static_cast<std::size_t>(b)];
      const int from = at.dominator;
      if (at.before.size() != 1) {
        // Every way from there to `until` goes through the block.
        if (graph_.leads(from, until, b)) return std::nullopt;
        b = from;
        continue;
      }
      const Block& before = graph_.blocks()[static_cast<std::size_t>(from)];
      const Op& last = p.ops[before.end - 1];
      if (last.guard != program::kNoSlot &&
          (last.action == Action::kBranch || last.action == Action::kExit ||
           last.action == Action::kReturn)) {
        const bool branches = last.action == Action::kBranch;
        const bool jumps = branches && last.as<program::BranchFields>().target() == at.begin;
        if (!(branches && before.after.size() == 1) &&
            !keep(last.guard, before.end - 1, jumps != last.guard_negated, &threads))
          return std::nullopt;
      }
      b = from;
    }
    return threads;
  }

 private:
  // Keeps the threads whose predicate is `holds`. False if this is unknown.
  bool keep(program::Slot predicate, std::uint32_t pc, bool holds, std::vector<bool>* threads) {
    const auto known = values_.source(predicate, pc, 1);
    if (!known || !known->known()) return false;
    for (std::size_t t = 0; t < threads->size(); ++t)
      (*threads)[t] = (*threads)[t] && (known->of(t) != 0) == holds;
    return true;
  }

  const Graph& graph_;
  Values& values_;
};

bool is_fixed_store(const Place& p) {
  return p.access.space == Space::kShared && p.access.writes && !p.access.reads && p.address &&
         p.access.in_bounds && p.address->factors.empty();
}

// Marks the bytes that `threads` store to.
void mark(const Place& store, const std::vector<bool>& threads, std::vector<bool>* bytes) {
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const std::int64_t at = store.address->of(t);
    for (std::uint32_t i = 0; threads[t] && i < store.access.size; ++i) {
      const std::size_t byte = static_cast<std::size_t>(at) + i;
      if (at >= 0 && byte < bytes->size()) (*bytes)[byte] = true;
    }
  }
}

struct OwnStore {
  const Place* place = nullptr;
  std::vector<bool> threads;
};

bool own_store_covers(const std::vector<OwnStore>& own, std::size_t thread, std::int64_t byte) {
  return std::any_of(own.begin(), own.end(), [&](const OwnStore& s) {
    const std::int64_t at = s.place->address->of(thread);
    return s.threads[thread] && at <= byte && byte < at + std::int64_t{s.place->access.size};
  });
}

// Whether every byte that the load reads, for each thread and round, is in `bytes` or was stored by
// its own thread.
bool reads_only(const Place& load, const Values& values, const std::vector<bool>& bytes,
                const std::vector<OwnStore>& own) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> counters;
  std::uint64_t rounds = 1;
  for (const auto& [symbol, factor] : load.address->factors) {
    const Range& r = values.symbols()[static_cast<std::size_t>(symbol)];
    if (symbol < kFirstLoop || r.high >= Wide{1} << 16) return false;
    counters.emplace_back(factor, static_cast<std::uint64_t>(r.high) + 1);
    rounds *= counters.back().second;
    if (rounds * values.threads() * load.access.size > kMostBytesRead) return false;
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::int64_t more = 0;
    std::uint64_t rest = round;
    for (const auto& [factor, count] : counters) {
      more += factor * static_cast<std::int64_t>(rest % count);
      rest /= count;
    }
    for (std::size_t t = 0; t < values.threads(); ++t) {
      if (!load.access.threads[t]) continue;
      const std::int64_t at = load.address->of(t) + more;
      for (std::int64_t byte = at; byte < at + std::int64_t{load.access.size}; ++byte) {
        const bool stored = byte >= 0 && static_cast<std::size_t>(byte) < bytes.size() &&
                            bytes[static_cast<std::size_t>(byte)];
        if (!stored && !own_store_covers(own, t, byte)) return false;
      }
    }
  }
  return true;
}

bool is_written(Graph& graph, int node, std::set<int>& seen) {
  if (!seen.insert(node).second) return true;
  const Node n = graph.node(node);
  switch (n.kind) {
    case Node::Kind::kOperation: return true;
    // A second destination has the pc of its operation; an undefined value has none.
    case Node::Kind::kUnknown: return n.pc != 0;
    // The old value, for threads with a false predicate.
    case Node::Kind::kSelect: return is_written(graph, graph.read(n.slot, n.pc), seen);
    case Node::Kind::kJoin:
      return std::all_of(n.from.begin(), n.from.end(),
                         [&](int from) { return is_written(graph, from, seen); });
  }
  return false;
}

}  // namespace

void find_stores_before(const Graph& graph, Values& values, const Memory& memory,
                        std::vector<Place>& places) {
  constexpr std::uint64_t kMostShared = 1 << 18;
  std::uint64_t extent = 0;
  for (const Extent& e : memory.shared) extent = std::max(extent, e.end);
  if (extent > kMostShared) return;
  const std::vector<bool> barrier = common_barriers(graph, values);
  Stores stores(graph, values);
  for (Place& load : places) {
    Access& a = load.access;
    if (a.space != Space::kShared || !a.reads || !load.address || !a.in_bounds) continue;
    const int here = graph.block_of(a.pc);
    std::vector<bool> bytes(extent);
    std::vector<OwnStore> own;
    for (const Place& store : places) {
      if (!is_fixed_store(store)) continue;
      const int there = graph.block_of(store.access.pc);
      if (there == here ? store.access.pc < a.pc : graph.dominates(there, here)) {
        if (auto threads = stores.surely(store.access.pc, here))
          own.push_back({&store, std::move(*threads)});
      }
      for (std::size_t b = 0; b < barrier.size(); ++b) {
        const int at = static_cast<int>(b);
        // The barrier ends its block.
        if (!barrier[b] || at == here || !graph.dominates(at, here)) continue;
        // A store that only follows the barrier does not count.
        if (there != at && graph.dominates(at, there)) continue;
        if (const auto threads = stores.surely(store.access.pc, at)) mark(store, *threads, &bytes);
      }
    }
    a.stored_before = reads_only(load, values, bytes, own);
  }
}

bool registers_are_written(Graph& graph, const program::Function& kernel) {
  const program::Program& p = graph.program();
  std::set<int> seen;
  for (std::uint32_t pc = kernel.entry; pc < kernel.end; ++pc) {
    if (!graph.is_reached(graph.block_of(pc))) continue;
    for (std::uint32_t u = p.use_begin[pc]; u < p.use_begin[pc + 1]; ++u) {
      const program::OperandUse& use = p.uses[u];
      if (use.role == program::OperandUse::Role::kWrite || program::is_constant(use.slot) ||
          use.slot == program::kNoSlot)
        continue;
      if (!is_written(graph, graph.read(use.slot, pc), seen)) return false;
    }
  }
  return true;
}

void claim_initialised(Certificate& c, const std::function<bool(const Extent&)>& written) {
  for (Access& a : c.accesses) a.initialised = false;
  if (c.others) return;
  const auto is_load = [](const Access& a) { return a.reads; };
  const auto is_full = [&](const Access& a) {
    if (!a.in_bounds) return false;
    if (a.bytes.begin == a.bytes.end) return true;  // no thread gets here
    return a.space == Space::kShared ? a.stored_before : written(a.bytes);
  };
  std::vector<bool> full;
  for (const Access& a : c.accesses) full.push_back(is_load(a) && is_full(a));
  // If no load returns unwritten bytes, no store makes memory unwritten.
  bool clean = c.registers_written && !c.reads_local;
  for (std::size_t i = 0; i < full.size(); ++i) clean = clean && (full[i] || !c.accesses[i].reads);
  const auto may_be_spoilt = [&](const Access& load) {
    return std::any_of(c.accesses.begin(), c.accesses.end(), [&](const Access& a) {
      return a.writes && a.space == load.space &&
             (!a.in_bounds || (a.bytes.begin < load.bytes.end && load.bytes.begin < a.bytes.end));
    });
  };
  for (std::size_t i = 0; i < full.size(); ++i)
    c.accesses[i].initialised = full[i] && (clean || !may_be_spoilt(c.accesses[i]));
}

}  // namespace lockstep::proof
