#include "simulator/litmus/program.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>

#include "simulator/splitmix64.h"

namespace lockstep::litmus {

std::uint32_t Program::blocks() const {
  std::uint32_t n = 1;
  for (const Thread& t : threads) n = std::max<std::uint32_t>(n, t.block + 1u);
  for (const Location& l : locations) n = std::max<std::uint32_t>(n, l.shared ? l.block + 1u : 1u);
  for (const Object& o : objects) n = std::max<std::uint32_t>(n, o.block + 1u);
  return (n + cluster - 1) / cluster * cluster;
}

std::uint32_t Program::warps() const {
  std::uint32_t n = 1;
  for (const Thread& t : threads) n = std::max<std::uint32_t>(n, t.warp + 1u);
  return n;
}

bool Program::uses_shared() const {
  return !objects.empty() || std::any_of(locations.begin(), locations.end(),
                                         [](const Location& l) { return l.shared; });
}

bool Program::uses_remote() const {
  for (const Thread& t : threads) {
    for (const Op& op : t.ops) {
      if (accesses_memory(op) && locations[op.location].shared &&
          locations[op.location].block != t.block)
        return true;
      if ((op.kind == Kind::kArrive || op.kind == Kind::kWait) && objects[op.id].block != t.block)
        return true;
    }
  }
  return false;
}

std::size_t Program::size() const {
  std::size_t n = 0;
  for (const Thread& t : threads) n += t.ops.size();
  return n;
}

std::uint64_t outcome_of_result(int thread, int op, std::uint64_t value) {
  return mixed(static_cast<std::uint64_t>(thread * kMaxOps + op + 1) * 0x9e3779b97f4a7c15 ^
               mixed(value + 1));
}

std::uint64_t outcome_of_memory(int location, std::uint64_t value) {
  return mixed(static_cast<std::uint64_t>(location + 1) * 0xbf58476d1ce4e5b9 ^ mixed(value + 3));
}

namespace {

std::string sem_of_access(const Op& op) {
  const auto one_of = [&](std::initializer_list<Sem> all) {
    return std::find(all.begin(), all.end(), op.sem) != all.end();
  };
  switch (op.kind) {
    case Kind::kLoad:
      return one_of({Sem::kWeak, Sem::kVolatile, Sem::kRelaxed, Sem::kAcquire}) ? ""
                                                                                : "a load's order";
    case Kind::kAwaitLoad:
      return one_of({Sem::kVolatile, Sem::kRelaxed, Sem::kAcquire}) ? ""
                                                                    : "an awaiting load's order";
    case Kind::kStore:
      return one_of({Sem::kWeak, Sem::kVolatile, Sem::kRelaxed, Sem::kRelease}) ? ""
                                                                                : "a store's order";
    case Kind::kAtom:
    case Kind::kAwaitCas:
      return one_of({Sem::kRelaxed, Sem::kAcquire, Sem::kRelease, Sem::kAcqRel})
                 ? ""
                 : "an atomic's order";
    case Kind::kRed: return one_of({Sem::kRelaxed, Sem::kRelease}) ? "" : "a reduction's order";
    case Kind::kFence:
      return one_of({Sem::kAcquire, Sem::kRelease, Sem::kAcqRel, Sem::kSc}) ? ""
                                                                            : "a fence's order";
    case Kind::kArrive:
    case Kind::kClusterArrive:
      return one_of({Sem::kRelaxed, Sem::kRelease}) ? "" : "an arrival's order";
    case Kind::kWait: return one_of({Sem::kRelaxed, Sem::kAcquire}) ? "" : "a wait's order";
    default: return "";
  }
}

std::string of_access(const Program& p, const Thread& t, const Op& op) {
  if (op.location >= p.locations.size()) return "no such location";
  const Location& l = p.locations[op.location];
  if (l.shared && l.block / p.cluster != t.block / p.cluster)
    return "shared memory of another cluster";
  if (op.kind == Kind::kRed && op.rmw != Rmw::kAdd) return "a reduction that does not add";
  const bool atomic = op.kind == Kind::kAtom || op.kind == Kind::kRed || op.kind == Kind::kAwaitCas;
  if (atomic && l.bytes < 4) return "an atomic of less than a word";
  return "";
}

}  // namespace

std::string invalid(const Program& p) {
  if (p.threads.empty() || p.threads.size() > kMaxThreads) return "the number of threads";
  if (p.locations.size() > kMaxLocations || p.objects.size() > kMaxObjects)
    return "the number of locations";
  if (p.cluster == 0 || p.blocks() > kMaxBlocks || p.warps() > 4) return "the size of the grid";
  for (const Location& l : p.locations) {
    if (!std::has_single_bit(l.bytes) || l.bytes > 8 || l.offset % l.bytes != 0 ||
        l.offset + l.bytes > kArenaBytes) {
      return "the bytes of '" + l.name + "'";
    }
    for (const Location& o : p.locations) {
      const bool same =
          o.shared == l.shared && o.block == l.block && o.offset == l.offset && o.bytes == l.bytes;
      if (same && &o != &l) return "'" + l.name + "' is '" + o.name + "'";
    }
  }
  if (p.copies == 0 || p.copies > 32) return "the number of copies";
  if (p.copies > 1) {
    for (const Thread& t : p.threads) {
      if (t.lane != 0) return "copies of threads of one warp";
    }
    for (const Location& l : p.locations) {
      for (const Location& o : p.locations) {
        const bool apart = o.shared != l.shared || o.block != l.block ||
                           o.offset >= l.offset + l.bytes || l.offset >= o.offset + o.bytes;
        if (&o != &l && !apart) return "copies of locations that overlap";
      }
    }
  }
  std::map<std::uint32_t, std::vector<const Thread*>> blocks;
  std::map<std::uint32_t, std::vector<int>> cluster_barriers;
  for (std::size_t i = 0; i < p.threads.size(); ++i) {
    const Thread& t = p.threads[i];
    if (t.lane > 31 || t.ops.size() > kMaxOps) return "a thread's place or size";
    for (std::size_t j = 0; j < i; ++j) {
      const Thread& o = p.threads[j];
      if (o.block == t.block && o.warp == t.warp && o.lane == t.lane)
        return "two threads in one place";
    }
    blocks[t.block].push_back(&t);
    int arrived = 0, phases = 0;
    for (const Op& op : t.ops) {
      if (const std::string what = sem_of_access(op); !what.empty()) return what;
      if (accesses_memory(op)) {
        if (const std::string what = of_access(p, t, op); !what.empty()) return what;
      }
      if (op.kind == Kind::kClusterArrive && ++arrived != phases + 1)
        return "arrivals at the cluster's barrier";
      if (op.kind == Kind::kClusterWait && ++phases != arrived)
        return "waits at the cluster's barrier";
      if (op.kind == Kind::kArrive || op.kind == Kind::kWait) {
        if (op.id >= p.objects.size()) return "no such mbarrier";
        const std::uint8_t home = p.objects[op.id].block;
        if (op.kind == Kind::kWait && home != t.block) return "a wait at another block's mbarrier";
        if (home / p.cluster != t.block / p.cluster) return "an mbarrier of another cluster";
        if (op.scope > Scope::kCluster) return "an mbarrier's scope";
      }
      if (op.kind == Kind::kBranch) {
        const auto at = static_cast<std::size_t>(&op - t.ops.data());
        if (op.target > t.ops.size() || op.target == at) return "where a branch goes";
        if (op.id != kAlways && (op.id >= t.ops.size() || !has_result(t.ops[op.id])))
          return "what a branch looks at";
        for (std::size_t i = std::min<std::size_t>(at, op.target);
             i < std::max<std::size_t>(at, op.target); ++i) {
          if (t.ops[i].kind >= Kind::kBarSync) return "a barrier in a loop or that may be left out";
        }
      }
      if (op.kind == Kind::kProxyFence && op.id >= std::size(kProxies)) return "a proxy";
      if (op.kind == Kind::kWarpSync) {
        if (p.copies > 1) return "a barrier of copies";
        if ((op.mask >> t.lane & 1) == 0) return "a mask without its own lane";
        std::uint32_t lanes = 0;
        for (const Thread& o : p.threads)
          lanes |= o.block == t.block && o.warp == t.warp ? 1u << o.lane : 0;
        if ((op.mask & ~lanes) != 0) return "a mask with lanes that have ended";
      }
      if (op.kind == Kind::kBarArrive && op.warps == 0)
        return "an arrival at the barrier of the whole block";
      if ((op.kind == Kind::kBarSync || op.kind == Kind::kBarArrive) && op.id > 15)
        return "a barrier's number";
    }
    if (arrived != phases) return "an arrival at the cluster's barrier without a wait";
    cluster_barriers[t.block / p.cluster].push_back(arrived);
  }
  for (const auto& [cluster, counts] : cluster_barriers) {
    if (std::any_of(counts.begin(), counts.end(), [&](int n) { return n != counts[0]; }))
      return "phases of the cluster's barrier";
  }
  const auto inhabited = [&](std::uint8_t block) { return blocks.contains(block); };
  for (const Location& l : p.locations) {
    if (l.shared && !inhabited(l.block)) return "shared memory of a block without threads";
  }
  for (const Object& o : p.objects) {
    if (!inhabited(o.block)) return "an mbarrier of a block without threads";
  }
  // Every thread of a block arrives equally often at the block's whole barriers: a thread without
  // further operations still waits for the others.
  for (const auto& [block, threads] : blocks) {
    const auto whole = [](const Thread& t) {
      return std::count_if(t.ops.begin(), t.ops.end(),
                           [](const Op& op) { return op.kind == Kind::kBarSync && op.warps == 0; });
    };
    for (const Thread* t : threads) {
      if (whole(*t) != whole(*threads[0]))
        return "a barrier that some threads of the block never reach";
    }
  }
  return "";
}

}  // namespace lockstep::litmus
