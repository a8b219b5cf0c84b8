#include "simulator/litmus/generator.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/splitmix64.h"

namespace lockstep::litmus {

const char* name(Placement p) {
  constexpr const char* kNames[] = {"lanes", "warps", "blocks", "cluster", "mixed"};
  return kNames[static_cast<int>(p)];
}

const char* name(Space s) {
  constexpr const char* kNames[] = {"global", "shared", "distributed", "several"};
  return kNames[static_cast<int>(s)];
}

Placement placement_of(const Program& p) {
  bool lanes = false, warps = false, blocks = false, clusters = false;
  for (const Thread& t : p.threads) {
    for (const Thread& u : p.threads) {
      if (&t == &u) continue;
      if (t.block / p.cluster != u.block / p.cluster) {
        blocks = true;
      } else if (t.block != u.block) {
        clusters = true;
      } else {
        (t.warp != u.warp ? warps : lanes) = true;
      }
    }
  }
  if (lanes + warps + blocks + clusters != 1) return Placement::kMixed;
  return lanes    ? Placement::kLanes
         : warps  ? Placement::kWarps
         : blocks ? Placement::kBlocks
                  : Placement::kCluster;
}

Space space_of(const Program& p) {
  bool global = false, shared = false, distributed = false;
  for (std::size_t l = 0; l < p.locations.size(); ++l) {
    if (!p.locations[l].shared) {
      global = true;
      continue;
    }
    bool remote = false;
    for (const Thread& t : p.threads) {
      for (const Op& op : t.ops)
        remote |= accesses_memory(op) && op.location == l && t.block != p.locations[l].block;
    }
    (remote ? distributed : shared) = true;
  }
  if (global + shared + distributed > 1) return Space::kSeveral;
  return distributed ? Space::kDistributed : shared ? Space::kShared : Space::kGlobal;
}

namespace {

class Choices {
 public:
  explicit Choices(std::uint64_t number) : state_(mixed(number + 0x51ed2701)) {}
  int below(int n) { return static_cast<int>(next_mixed(state_) % static_cast<std::uint64_t>(n)); }
  bool percent(int p) { return below(100) < p; }
  template <class T>
  T of(std::initializer_list<T> all) {
    return all.begin()[below(static_cast<int>(all.size()))];
  }

 private:
  std::uint64_t state_;
};

class Generator {
 public:
  explicit Generator(std::uint64_t number) : choose_(number) {}

  Program run() {
    place();
    const int data = 1 + choose_.below(2);
    for (int i = 0; i < data; ++i) locate(choose_.percent(8));
    if (choose_.percent(5)) part();
    data_ = static_cast<int>(p_.locations.size());
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      for (int n = choose_.below(p_.threads.size() == 2 ? 4 : 3); n > 0; --n)
        insert(t, data_access(t));
    }
    for (int n = choose_.of({0, 1, 1, 1, 1, 2, 2, 3}); n > 0; --n) hand_over();
    for (int n = choose_.of({0, 0, 1, 1, 2}); n > 0; --n) {
      const std::size_t t = any_thread();
      insert(t, stray(t));
    }
    for (int n = choose_.of({0, 0, 0, 1}); n > 0; --n) drop();
    number_values();
    if (choose_.percent(18)) branch();
    p_.generic = choose_.percent(12);
    bool alone = true;
    for (const Thread& t : p_.threads) alone &= t.lane == 0;
    if (alone && choose_.percent(25)) p_.copies = choose_.of<std::uint8_t>({32, 32, 8});
    return std::move(p_);
  }

 private:
  std::size_t any_thread() {
    return static_cast<std::size_t>(choose_.below(static_cast<int>(p_.threads.size())));
  }

  void place() {
    const int n = choose_.of({2, 2, 2, 2, 3, 3, 4});
    const Placement where = static_cast<Placement>(choose_.below(kPlacements));
    const bool far = choose_.percent(50);  // lanes and warps that are not adjacent
    p_.cluster =
        where == Placement::kCluster || (where == Placement::kMixed && choose_.percent(60)) ? 2 : 1;
    if (p_.cluster == 2 && n > 2 && choose_.percent(30)) p_.cluster = 4;
    for (int i = 0; i < n; ++i) {
      Thread t;
      const std::uint8_t u = static_cast<std::uint8_t>(i);
      switch (where) {
        case Placement::kLanes: t.lane = static_cast<std::uint8_t>(far ? 7 * u + 3 : u); break;
        case Placement::kWarps:
          t.warp = u, t.lane = static_cast<std::uint8_t>(far ? 5 * u : 0);
          break;
        case Placement::kBlocks: t.block = u; break;
        case Placement::kCluster: t.block = u % p_.cluster, t.warp = u / p_.cluster; break;
        case Placement::kMixed:
          t.block = static_cast<std::uint8_t>(choose_.below(n == 2 ? 2 : 3));
          t.warp = static_cast<std::uint8_t>(choose_.below(2));
          t.lane = static_cast<std::uint8_t>(choose_.below(3));
          break;
      }
      const auto taken = [&] {
        return std::any_of(p_.threads.begin(), p_.threads.end(), [&](const Thread& o) {
          return o.block == t.block && o.warp == t.warp && o.lane == t.lane;
        });
      };
      while (taken()) t.lane = static_cast<std::uint8_t>((t.lane + 1) % 32);
      p_.threads.push_back(t);
    }
  }

  // A new location. `narrow`: a byte or half-word next to the previous location.
  std::uint8_t locate(bool narrow) {
    Location l;
    const std::size_t n = p_.locations.size();
    l.name = std::string(1, "xyfghi"[n]);
    l.bytes = narrow ? choose_.of<std::uint8_t>({1, 2}) : choose_.percent(12) ? 8 : 4;
    const std::size_t t = any_thread();
    bool one_cluster = true;
    for (const Thread& u : p_.threads)
      one_cluster &= u.block / p_.cluster == p_.threads[0].block / p_.cluster;
    bool one_block = true;
    for (const Thread& u : p_.threads) one_block &= u.block == p_.threads[0].block;
    l.shared = (one_block || one_cluster) && choose_.percent(55);
    if (l.shared) l.block = p_.threads[t].block;
    const bool beside = narrow && n > 0 && p_.locations[n - 1].shared == l.shared &&
                        p_.locations[n - 1].bytes <= 2 && p_.locations[n - 1].block == l.block;
    l.offset = static_cast<std::uint8_t>(beside ? 8 * (n - 1) + 2 : 8 * n);
    p_.locations.push_back(l);
    return static_cast<std::uint8_t>(n);
  }

  // A part of the first location.
  void part() {
    Location l = p_.locations[0];
    if (l.bytes == 1) return;
    l.name = "part";
    l.bytes = static_cast<std::uint8_t>(l.bytes / 2);
    if (choose_.percent(50)) l.offset = static_cast<std::uint8_t>(l.offset + l.bytes);
    for (const Location& o : p_.locations) {
      if (o.shared == l.shared && o.block == l.block && o.offset == l.offset && o.bytes == l.bytes)
        return;
    }
    p_.locations.push_back(l);
  }

  bool reaches(std::size_t t, const Location& l) const {
    return !l.shared || l.block / p_.cluster == p_.threads[t].block / p_.cluster;
  }

  Scope scope() {
    return choose_.of({Scope::kCta, Scope::kCta, Scope::kCluster, Scope::kGpu, Scope::kGpu,
                       Scope::kGpu, Scope::kSys});
  }
  // A scope that usually includes all threads.
  Scope wide_scope() {
    return choose_.percent(60) ? choose_.of({Scope::kGpu, Scope::kSys}) : scope();
  }

  Op access(std::uint8_t at, bool write, Sem sem) {
    Op op;
    op.kind = write ? Kind::kStore : Kind::kLoad;
    op.sem = sem;
    op.scope = wide_scope();
    op.location = at;
    return op;
  }
  Op rmw(std::uint8_t at) {
    Op op;
    op.location = at;
    op.scope = wide_scope();
    if (choose_.percent(25)) {
      op.kind = Kind::kRed;
      op.rmw = Rmw::kAdd;
      op.sem = choose_.of({Sem::kRelaxed, Sem::kRelaxed, Sem::kRelease});
    } else {
      op.kind = Kind::kAtom;
      op.rmw = choose_.of({Rmw::kExch, Rmw::kAdd, Rmw::kAdd, Rmw::kCas});
      op.sem = choose_.of({Sem::kRelaxed, Sem::kAcquire, Sem::kRelease, Sem::kAcqRel});
      op.used = choose_.percent(65);
    }
    return op;
  }

  Op data_access(std::size_t t) {
    const std::uint8_t at = static_cast<std::uint8_t>(choose_.below(data_));
    if (!reaches(t, p_.locations[at])) return fence();
    const bool write = choose_.percent(50);
    if (choose_.percent(75)) return access(at, write, Sem::kWeak);
    if (p_.locations[at].bytes >= 4 && choose_.percent(45)) return rmw(at);
    return access(at, write,
                  write ? choose_.of({Sem::kRelaxed, Sem::kVolatile, Sem::kRelease})
                        : choose_.of({Sem::kRelaxed, Sem::kVolatile, Sem::kAcquire}));
  }

  Op fence() {
    Op op;
    op.kind = Kind::kFence;
    op.sem = choose_.of(
        {Sem::kAcqRel, Sem::kAcqRel, Sem::kAcqRel, Sem::kSc, Sem::kAcquire, Sem::kRelease});
    op.scope = wide_scope();
    if (choose_.percent(15)) {
      op = Op{};
      op.kind = Kind::kProxyFence;
      op.id = static_cast<std::uint8_t>(choose_.below(static_cast<int>(std::size(kProxies))));
    } else if (choose_.percent(20)) {
      op.kind = Kind::kMembar;
      op.sem = Sem::kSc;
      if (op.scope == Scope::kCluster) op.scope = Scope::kGpu;
    }
    return op;
  }

  Op stray(std::size_t t) {
    if (choose_.percent(30)) return fence();
    // Any location that no thread awaits: awaited values must arrive.
    const std::uint8_t at =
        static_cast<std::uint8_t>(choose_.below(static_cast<int>(p_.locations.size())));
    if (!reaches(t, p_.locations[at])) return fence();
    bool awaited = false;
    for (const Thread& u : p_.threads) {
      for (const Op& op : u.ops) awaited |= awaits(op) && op.location == at;
    }
    const bool write = !awaited && choose_.percent(50);
    if (!write)
      return access(at, false,
                    choose_.of({Sem::kRelaxed, Sem::kVolatile, Sem::kAcquire, Sem::kWeak}));
    if (p_.locations[at].bytes >= 4 && choose_.percent(50)) return rmw(at);
    return access(at, true, choose_.of({Sem::kRelaxed, Sem::kVolatile, Sem::kRelease, Sem::kWeak}));
  }

  void insert(std::size_t t, const Op& op) {
    std::vector<Op>& ops = p_.threads[t].ops;
    if (ops.size() >= kMaxOps) return;
    ops.insert(ops.begin() + choose_.below(static_cast<int>(ops.size()) + 1), op);
  }
  void put(std::size_t t, int at, std::initializer_list<Op> all) {
    std::vector<Op>& ops = p_.threads[t].ops;
    if (ops.size() + all.size() > kMaxOps) return;
    ops.insert(ops.begin() + at, all);
  }
  int position(std::size_t t) {
    return choose_.below(static_cast<int>(p_.threads[t].ops.size()) + 1);
  }

  // Two threads that satisfy `near`, in any order.
  template <class Near>
  bool pair(std::size_t& a, std::size_t& b, const Near& near) {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t i = 0; i < p_.threads.size(); ++i) {
      for (std::size_t j = 0; j < p_.threads.size(); ++j) {
        if (i != j && near(p_.threads[i], p_.threads[j])) all.push_back({i, j});
      }
    }
    if (all.empty()) return false;
    std::tie(a, b) = all[static_cast<std::size_t>(choose_.below(static_cast<int>(all.size())))];
    return true;
  }

  void hand_over() {
    switch (choose_.below(10)) {
      case 0: return block_barrier();
      case 1: return named_barrier();
      case 2: return warp_barrier();
      case 3: return p_.cluster > 1 ? cluster_barrier() : flag();
      case 4: return mbarrier();
      case 5: return lock();
      case 6: return counter();
      default: return flag();
    }
  }

  bool room() const { return p_.locations.size() < kMaxLocations; }

  // a writes, other threads may change the value, b waits for it.
  void flag() {
    if (!room()) return;
    std::size_t a = 0, b = 0;
    if (!pair(a, b, [](const Thread&, const Thread&) { return true; })) return;
    const std::uint8_t f = locate(false);
    if (!reaches(a, p_.locations[f]) || !reaches(b, p_.locations[f])) return;
    std::uint64_t last = 1;
    Op write =
        choose_.percent(60)
            ? access(f, true,
                     choose_.of({Sem::kRelease, Sem::kRelease, Sem::kRelaxed, Sem::kVolatile}))
            : rmw(f);
    write.value = 1;
    if (choose_.percent(45)) {
      put(a, position(a), {fence(), write});
    } else {
      put(a, position(a), {write});
    }
    if (choose_.percent(15)) {  // a second time
      Op again = choose_.percent(50)
                     ? access(f, true, choose_.of({Sem::kRelease, Sem::kRelaxed, Sem::kVolatile}))
                     : rmw(f);
      again.value = 2;
      if (again.rmw == Rmw::kAdd && again.kind != Kind::kStore) again.value = 1;
      if (again.rmw == Rmw::kCas && again.kind == Kind::kAtom) again.compare = 1;
      const auto& ops = p_.threads[a].ops;
      const auto first = std::find_if(ops.begin(), ops.end(), [&](const Op& op) {
        return accesses_memory(op) && op.location == f;
      });
      if (first == ops.end()) return;  // the thread had no room for it
      const int from = static_cast<int>(first - ops.begin()) + 1;
      put(a, from + choose_.below(static_cast<int>(ops.size()) - from + 1), {again});
      last = 2;
    }
    if (p_.threads.size() > 2 && choose_.percent(40)) {
      std::size_t c = any_thread();
      for (int i = 0; i < 4 && (c == a || c == b); ++i) c = any_thread();
      if (c != a && c != b && reaches(c, p_.locations[f])) {
        Op next;
        next.kind = Kind::kAwaitCas;
        next.rmw = Rmw::kCas;
        next.sem =
            choose_.of({Sem::kRelaxed, Sem::kRelaxed, Sem::kAcquire, Sem::kRelease, Sem::kAcqRel});
        next.scope = wide_scope();
        next.location = f;
        next.compare = last;
        next.value = ++last;
        put(c, position(c), {next});
      }
    }
    wait_for(b, f, last);
  }

  void wait_for(std::size_t b, std::uint8_t f, std::uint64_t value) {
    Op wait;
    wait.kind = choose_.percent(85) ? Kind::kAwaitLoad : Kind::kLoad;
    wait.sem = choose_.of({Sem::kAcquire, Sem::kAcquire, Sem::kRelaxed, Sem::kVolatile});
    wait.scope = wide_scope();
    wait.location = f;
    wait.compare = wait.kind == Kind::kLoad ? 0 : value;
    if (choose_.percent(12)) {
      wait.kind = Kind::kAwaitCas;
      wait.rmw = Rmw::kCas;
      wait.sem = choose_.of({Sem::kRelaxed, Sem::kAcquire, Sem::kRelease, Sem::kAcqRel});
      wait.compare = value;
      wait.value = value + 1;
    }
    if (choose_.percent(45)) {
      put(b, position(b), {wait, fence()});
    } else {
      put(b, position(b), {wait});
    }
  }

  // All threads add one; some wait for the total.
  void counter() {
    if (!room()) return;
    const std::uint8_t f = locate(false);
    std::uint64_t n = 0;
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      if (!reaches(t, p_.locations[f]) || choose_.percent(20)) continue;
      Op add = rmw(f);
      add.rmw = Rmw::kAdd;
      add.value = 1;
      ++n;
      if (choose_.percent(35)) {
        put(t, position(t), {fence(), add});
      } else {
        put(t, position(t), {add});
      }
    }
    if (n == 0) return;
    const std::size_t b = any_thread();
    if (reaches(b, p_.locations[f])) wait_for(b, f, n);
  }

  void lock() {
    if (!room()) return;
    const std::uint8_t f = locate(false);
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      if (!reaches(t, p_.locations[f]) || (t > 1 && choose_.percent(50))) continue;
      Op take;
      take.kind = Kind::kAwaitCas;
      take.rmw = Rmw::kCas;
      take.sem = choose_.of({Sem::kAcquire, Sem::kAcquire, Sem::kRelaxed, Sem::kAcqRel});
      take.scope = wide_scope();
      take.location = f;
      take.value = 1;
      Op give =
          choose_.percent(60)
              ? access(f, true,
                       choose_.of({Sem::kRelease, Sem::kRelease, Sem::kRelaxed, Sem::kVolatile}))
              : rmw(f);
      if (give.kind != Kind::kStore) give.kind = Kind::kAtom, give.rmw = Rmw::kExch;
      give.value = 0;
      const int from = position(t);
      const int to = from + choose_.below(static_cast<int>(p_.threads[t].ops.size()) - from + 1);
      if (p_.threads[t].ops.size() + 4 > kMaxOps) continue;
      if (choose_.percent(30)) {
        put(t, to, {fence(), give});
      } else {
        put(t, to, {give});
      }
      if (choose_.percent(30)) {
        put(t, from, {take, fence()});
      } else {
        put(t, from, {take});
      }
    }
  }

  void block_barrier() {
    const std::uint8_t block = p_.threads[any_thread()].block;
    Op op;
    op.kind = Kind::kBarSync;
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      if (p_.threads[t].block != block) continue;
      if (choose_.percent(20)) {
        put(t, position(t), {fence(), op});
      } else {
        put(t, position(t), {op});
      }
    }
  }

  // A barrier of two warps of one block: both wait, or one only arrives.
  void named_barrier() {
    std::size_t a = 0, b = 0;
    if (!pair(a, b, [](const Thread& t, const Thread& u) {
          return t.block == u.block && t.warp != u.warp;
        }))
      return warp_barrier();
    Op wait, arrive;
    wait.kind = arrive.kind = Kind::kBarSync;
    if (choose_.percent(50)) arrive.kind = Kind::kBarArrive;
    wait.warps = arrive.warps = 2;
    wait.id = arrive.id = static_cast<std::uint8_t>(1 + choose_.below(2));
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      const Thread& u = p_.threads[t];
      if (u.block != p_.threads[a].block) continue;
      if (u.warp == p_.threads[a].warp) put(t, position(t), {arrive});
      if (u.warp == p_.threads[b].warp) put(t, position(t), {wait});
    }
  }

  void warp_barrier() {
    std::size_t a = 0, b = 0;
    if (!pair(a, b, [](const Thread& t, const Thread& u) {
          return t.block == u.block && t.warp == u.warp;
        }))
      return flag();
    Op op;
    op.kind = Kind::kWarpSync;
    const bool all = choose_.percent(50);
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      const Thread& u = p_.threads[t];
      if (u.block == p_.threads[a].block && u.warp == p_.threads[a].warp &&
          (all || t == a || t == b))
        op.mask |= 1u << u.lane;
    }
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      const Thread& u = p_.threads[t];
      if (u.block == p_.threads[a].block && u.warp == p_.threads[a].warp && (op.mask >> u.lane & 1))
        put(t, position(t), {op});
    }
  }

  void cluster_barrier() {
    for (const Thread& t : p_.threads) {
      for (const Op& op : t.ops) {
        if (op.kind == Kind::kClusterArrive) return flag();
      }
    }
    const std::uint8_t cluster = p_.threads[any_thread()].block / p_.cluster;
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      if (p_.threads[t].block / p_.cluster != cluster) continue;
      Op arrive, wait;
      arrive.kind = Kind::kClusterArrive;
      arrive.sem = choose_.percent(65) ? Sem::kRelease : Sem::kRelaxed;
      wait.kind = Kind::kClusterWait;
      wait.sem = Sem::kAcquire;
      const int from = position(t);
      int to = from;
      if (choose_.percent(25))
        to += choose_.below(static_cast<int>(p_.threads[t].ops.size()) - from + 1);
      put(t, to, {wait});
      if (arrive.sem == Sem::kRelaxed && choose_.percent(50)) {
        put(t, from, {fence(), arrive});
      } else {
        put(t, from, {arrive});
      }
    }
  }

  void mbarrier() {
    if (p_.objects.size() == kMaxObjects) return flag();
    std::size_t a = 0, b = 0;
    const auto cluster_mates = [&](const Thread& t, const Thread& u) {
      return t.block / p_.cluster == u.block / p_.cluster;
    };
    if (!pair(a, b, cluster_mates)) return flag();
    Object object;
    object.block = p_.threads[b].block;
    const std::uint8_t id = static_cast<std::uint8_t>(p_.objects.size());
    std::vector<std::size_t> arriving{a};
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      if (t != a && cluster_mates(p_.threads[t], p_.threads[b]) && choose_.percent(35))
        arriving.push_back(t);
    }
    object.count = static_cast<std::uint8_t>(arriving.size());
    p_.objects.push_back(object);
    const auto near_scope = [&] { return choose_.percent(55) ? Scope::kCluster : Scope::kCta; };
    Op wait;
    wait.kind = Kind::kWait;
    wait.id = id;
    wait.sem = choose_.percent(75) ? Sem::kAcquire : Sem::kRelaxed;
    wait.scope = near_scope();
    if (choose_.percent(20)) {
      put(b, position(b), {wait, fence()});
    } else {
      put(b, position(b), {wait});
    }
    for (const std::size_t t : arriving) {
      Op arrive;
      arrive.kind = Kind::kArrive;
      arrive.id = id;
      arrive.sem = choose_.percent(75) ? Sem::kRelease : Sem::kRelaxed;
      arrive.scope = near_scope();
      int at = position(t);
      if (t == b) {  // before its wait
        const auto& ops = p_.threads[t].ops;
        const auto w = std::find_if(ops.begin(), ops.end(), [&](const Op& op) {
          return op.kind == Kind::kWait && op.id == id;
        });
        at = choose_.below(static_cast<int>(w - ops.begin()) + 1);
      }
      if (choose_.percent(25)) {
        put(t, at, {fence(), arrive});
      } else {
        put(t, at, {arrive});
      }
    }
  }

  void drop() {
    std::vector<Op>& ops = p_.threads[any_thread()].ops;
    if (ops.empty()) return;
    const auto it = ops.begin() + choose_.below(static_cast<int>(ops.size()));
    if (accesses_memory(*it) || it->kind == Kind::kFence) ops.erase(it);
  }

  // A thread executes operations only if it has read a value that some thread writes, or the
  // initial value.
  void branch() {
    const std::size_t t = any_thread();
    std::vector<Op>& ops = p_.threads[t].ops;
    std::vector<std::size_t> reads;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (has_result(ops[i])) reads.push_back(i);
    }
    if (reads.empty() || ops.size() == kMaxOps) return;
    const std::size_t read =
        reads[static_cast<std::size_t>(choose_.below(static_cast<int>(reads.size())))];
    std::vector<std::uint64_t> values{0};
    for (const Thread& u : p_.threads) {
      for (const Op& op : u.ops) {
        if (may_write(op) && op.location == ops[read].location) values.push_back(op.value);
      }
    }
    Op op;
    op.kind = Kind::kBranch;
    op.id = static_cast<std::uint8_t>(read);
    op.compare = values[static_cast<std::size_t>(choose_.below(static_cast<int>(values.size())))];
    op.equal = choose_.percent(30);
    const std::size_t at = read + 1 + static_cast<std::size_t>(choose_.below(2));
    if (at > ops.size()) return;
    std::size_t to = at + 1;
    while (to < ops.size() + 1 && ops[to - 1].kind < Kind::kBarSync && !choose_.percent(20)) ++to;
    op.target = static_cast<std::uint8_t>(to);
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at), op);
  }

  // Each store of data gets its own value, because two writes of the same value are reported only
  // as information.
  void number_values() {
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      for (std::size_t i = 0; i < p_.threads[t].ops.size(); ++i) {
        Op& op = p_.threads[t].ops[i];
        if (!may_write(op) || op.kind == Kind::kAwaitCas) continue;
        const bool adds = (op.kind == Kind::kAtom || op.kind == Kind::kRed) && op.rmw == Rmw::kAdd;
        if (adds) op.value = 1;
        if (adds || op.location >= data_) continue;
        op.value = 16 * (t + 1) + i;
      }
    }
  }

  Choices choose_;
  Program p_;
  int data_ = 0;  // number of locations with data, which come first
};

}  // namespace

Program random_program(std::uint64_t number) { return Generator(number).run(); }

}  // namespace lockstep::litmus
