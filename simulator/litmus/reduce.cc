#include "simulator/litmus/reduce.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lockstep::litmus {
namespace {

class Reducer {
 public:
  Reducer(Program program, std::function<bool(const Program&)> differs)
      : p_(std::move(program)), differs_(std::move(differs)) {}

  Program run() {
    for (bool smaller = true; smaller;)
      smaller = threads() || operations() || groups() || locations() || simpler();
    return std::move(p_);
  }

 private:
  bool take(Program smaller) {
    if (smaller == p_ || !invalid(smaller).empty() || !differs_(smaller)) return false;
    p_ = std::move(smaller);
    return true;
  }

  bool threads() {
    for (std::size_t t = 0; p_.threads.size() > 1 && t < p_.threads.size(); ++t) {
      Program q = p_;
      q.threads.erase(q.threads.begin() + static_cast<std::ptrdiff_t>(t));
      for (std::size_t o = 0; o < q.objects.size(); ++o) recount(q, o);
      if (take(std::move(q))) return true;
    }
    return false;
  }
  static void recount(Program& q, std::size_t object) {
    int n = 0;
    for (const Thread& t : q.threads) {
      n += static_cast<int>(std::count_if(t.ops.begin(), t.ops.end(), [&](const Op& op) {
        return op.kind == Kind::kArrive && op.id == object;
      }));
    }
    if (n > 0) q.objects[object].count = static_cast<std::uint8_t>(n);
  }
  bool operations() {
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      for (std::size_t i = 0; i < p_.threads[t].ops.size(); ++i) {
        Program q = p_;
        erase(q.threads[t], i);
        const Op& gone = p_.threads[t].ops[i];
        if (gone.kind == Kind::kArrive && q.objects[gone.id].count > 1) --q.objects[gone.id].count;
        if (take(std::move(q))) return true;
      }
    }
    return false;
  }
  // Erases an operation and keeps the targets of branches.
  static void erase(Thread& t, std::size_t i) {
    t.ops.erase(t.ops.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = 0; j < t.ops.size(); ++j) {
      Op& op = t.ops[j];
      if (op.kind != Kind::kBranch) continue;
      if (op.target > i) --op.target;
      if (op.id != kAlways && op.id > i) --op.id;
    }
  }
  template <class Which>
  static void erase_if(Thread& t, const Which& which) {
    for (std::size_t i = t.ops.size(); i-- > 0;) {
      if (which(t.ops[i])) erase(t, i);
    }
  }
  // Removes operations that belong together: a barrier in all threads.
  bool groups() {
    for (const Thread& t : p_.threads) {
      for (const Op& op : t.ops) {
        if (op.kind < Kind::kBarSync) continue;
        Program q = p_;
        const auto alike = [&](const Op& o) {
          if (op.kind == Kind::kBarSync || op.kind == Kind::kBarArrive) {
            return (o.kind == Kind::kBarSync || o.kind == Kind::kBarArrive) && o.id == op.id;
          }
          if (op.kind == Kind::kWarpSync) return o.kind == Kind::kWarpSync && o.mask == op.mask;
          if (op.kind == Kind::kClusterArrive || op.kind == Kind::kClusterWait) {
            return o.kind == Kind::kClusterArrive || o.kind == Kind::kClusterWait;
          }
          return (o.kind == Kind::kArrive || o.kind == Kind::kWait) && o.id == op.id;
        };
        for (Thread& u : q.threads) {
          if (op.kind <= Kind::kBarArrive && u.block != t.block) continue;
          erase_if(u, alike);
        }
        if (take(std::move(q))) return true;
      }
    }
    // One of several waits at a barrier of the whole block.
    for (std::size_t nth = 0; nth < 3; ++nth) {
      Program q = p_;
      for (Thread& u : q.threads) {
        std::size_t seen = 0;
        erase_if(u, [&](const Op& o) {
          return o.kind == Kind::kBarSync && o.warps == 0 && seen++ == nth;
        });
      }
      if (take(std::move(q))) return true;
    }
    return false;
  }
  bool locations() {
    for (std::size_t l = 0; l < p_.locations.size(); ++l) {
      bool used = false;
      for (const Thread& t : p_.threads) {
        for (const Op& op : t.ops) used |= accesses_memory(op) && op.location == l;
      }
      if (used) continue;
      Program q = p_;
      q.locations.erase(q.locations.begin() + static_cast<std::ptrdiff_t>(l));
      for (Thread& t : q.threads) {
        for (Op& op : t.ops) {
          if (accesses_memory(op) && op.location > l) --op.location;
        }
      }
      if (take(std::move(q))) return true;
    }
    for (std::size_t o = 0; o < p_.objects.size(); ++o) {
      bool used = false;
      for (const Thread& t : p_.threads) {
        for (const Op& op : t.ops)
          used |= (op.kind == Kind::kArrive || op.kind == Kind::kWait) && op.id == o;
      }
      if (used) continue;
      Program q = p_;
      q.objects.erase(q.objects.begin() + static_cast<std::ptrdiff_t>(o));
      for (Thread& t : q.threads) {
        for (Op& op : t.ops) {
          if ((op.kind == Kind::kArrive || op.kind == Kind::kWait) && op.id > o) --op.id;
        }
      }
      if (take(std::move(q))) return true;
    }
    return false;
  }
  // Simplifies: one copy, device scope, stores and loads, words.
  bool simpler() {
    for (const bool copies : {true, false}) {
      Program q = p_;
      if (copies) {
        q.copies = 1;
      } else {
        q.generic = false;
      }
      if (take(std::move(q))) return true;
    }
    for (std::size_t t = 0; t < p_.threads.size(); ++t) {
      for (std::size_t i = 0; i < p_.threads[t].ops.size(); ++i) {
        const Op op = p_.threads[t].ops[i];
        const auto with = [&](auto change) {
          Program q = p_;
          change(q.threads[t].ops[i]);
          return take(std::move(q));
        };
        const bool scoped =
            op.sem != Sem::kWeak && op.sem != Sem::kVolatile && op.kind < Kind::kBarSync;
        if (scoped && op.scope != Scope::kGpu && with([](Op& o) { o.scope = Scope::kGpu; }))
          return true;
        if (op.sem == Sem::kVolatile &&
            with([](Op& o) { o.sem = Sem::kRelaxed, o.scope = Scope::kGpu; }))
          return true;
        if (op.kind == Kind::kMembar && with([](Op& o) { o.kind = Kind::kFence; })) return true;
        if (op.kind == Kind::kFence && op.sem != Sem::kAcqRel &&
            with([](Op& o) { o.sem = Sem::kAcqRel; }))
          return true;
        if (op.kind == Kind::kAtom && op.used && with([](Op& o) { o.kind = Kind::kLoad; }))
          return true;
        if ((op.kind == Kind::kAtom || op.kind == Kind::kRed) &&
            with([](Op& o) { o.kind = Kind::kStore; }))
          return true;
        if (accesses_memory(op) && op.sem > Sem::kRelaxed &&
            with([](Op& o) { o.sem = Sem::kRelaxed; }))
          return true;
        if (op.kind <= Kind::kStore && op.sem != Sem::kWeak &&
            with([](Op& o) { o.sem = Sem::kWeak, o.scope = Scope::kGpu; }))
          return true;
      }
    }
    for (std::size_t l = 0; l < p_.locations.size(); ++l) {
      if (p_.locations[l].bytes == 4) continue;
      Program q = p_;
      q.locations[l].bytes = 4;
      q.locations[l].offset = q.locations[l].offset / 4 * 4;
      if (take(std::move(q))) return true;
    }
    return false;
  }

  Program p_;
  std::function<bool(const Program&)> differs_;
};

}  // namespace

Program minimised(const Program& program, const Difference& difference, Simulator& gpu,
                  std::span<const std::uint64_t> schedules) {
  return Reducer(program,
                 [&](const Program& p) {
                   Opinion opinion(p, Rules{});
                   if (opinion.verdict() == Verdict::kInvalid ||
                       opinion.verdict() == Verdict::kTooLarge)
                     return false;
                   gpu.load({&p, 1});
                   const auto d = compare(p, opinion, gpu, 0, schedules);
                   const bool looser = difference.rule == kThreeThreads;
                   return d && d->fault == difference.fault &&
                          (d->rule == difference.rule || (looser && d->rule.empty()));
                 })
      .run();
}

}  // namespace lockstep::litmus
