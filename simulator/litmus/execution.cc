#include "simulator/litmus/execution.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace lockstep::litmus {
namespace {

// The scope of a memory operation. Volatile is equivalent to relaxed at system scope (PTX ISA 8.4).
Scope scope_of(const Op& op) { return op.sem == Sem::kVolatile ? Scope::kSys : op.scope; }

bool is_barrier(const Op& op) {
  return op.kind == Kind::kBarSync || op.kind == Kind::kBarArrive || op.kind == Kind::kWarpSync;
}

template <class Each>
void each_bit(std::uint64_t bits, const Each& f) {
  for (; bits != 0; bits &= bits - 1) f(std::countr_zero(bits));
}

}  // namespace

Setting::Setting(const Program& p, const Rules& rules) : program_(&p), rules_(rules) {
  const int n = static_cast<int>(p.threads.size());
  for (int i = 0; i < n; ++i) {
    std::uint32_t warps = 0;
    const Thread& t = p.threads[i];
    for (int j = 0; j < n; ++j) {
      const Thread& u = p.threads[j];
      const bool block = t.block == u.block, cluster = t.block / p.cluster == u.block / p.cluster;
      const std::uint8_t bit = static_cast<std::uint8_t>(1u << j);
      if (block) reach_[i][0] |= bit, warps |= 1u << u.warp;
      if (cluster) reach_[i][1] |= bit;
      reach_[i][2] |= bit;
      reach_[i][3] |= bit;
      if (block && t.warp == u.warp) warp_mates_[i] |= bit;
    }
    warps_[i] = std::popcount(warps);
    for (const Op& op : t.ops) {
      if (is_barrier(op) && barrier(i, op) < 0) barriers_.push_back(name_of(t, op));
    }
  }
  std::set<std::pair<int, int>> ends;  // arena, byte
  const auto arena = [](const Location& l) { return l.shared ? 1 + l.block : 0; };
  for (const Location& l : p.locations) {
    ends.insert({arena(l), l.offset});
    ends.insert({arena(l), l.offset + l.bytes});
  }
  for (auto it = ends.begin(); it != ends.end(); ++it) {
    const auto next = std::next(it);
    if (next == ends.end() || next->first != it->first) continue;
    std::uint16_t bit = static_cast<std::uint16_t>(1u << all_cells_.size());
    bool covered = false;
    for (std::size_t l = 0; l < p.locations.size(); ++l) {
      const Location& at = p.locations[l];
      if (arena(at) != it->first || at.offset > it->second || at.offset + at.bytes < next->second)
        continue;
      cells_[l] |= bit;
      covered = true;
    }
    if (covered) {
      all_cells_.push_back({static_cast<std::uint8_t>(it->second),
                            static_cast<std::uint8_t>(next->second - it->second),
                            static_cast<std::uint8_t>(it->first)});
    }
  }
  crowded_ = cells_of_many_threads();
}

std::uint16_t Setting::cells_of_many_threads() const {
  std::uint16_t once = 0, twice = 0, more = 0;
  for (const Thread& t : program_->threads) {
    std::uint16_t cells = 0;
    for (const Op& op : t.ops) {
      if (accesses_memory(op)) cells |= cells_[op.location];
    }
    more |= twice & cells;
    twice |= once & cells;
    once |= cells;
  }
  return more;
}

Setting::BarrierName Setting::name_of(const Thread& t, const Op& op) {
  if (op.kind == Kind::kWarpSync) return {t.block, t.warp, 255, op.mask};
  return {t.block, 255, op.id, 0};
}

int Setting::barrier(int thread, const Op& op) const {
  const auto it =
      std::find(barriers_.begin(), barriers_.end(), name_of(program_->threads[thread], op));
  return it == barriers_.end() ? -1 : static_cast<int>(it - barriers_.begin());
}

std::uint8_t Setting::in_mask(int thread, std::uint32_t mask) const {
  std::uint8_t all = 0;
  each_bit(warp_mates(thread), [&](int t) {
    all |= static_cast<std::uint8_t>((mask >> program_->threads[t].lane & 1) << t);
  });
  return all;
}

bool Setting::independent(int thread, const Op& a, int other, const Op& b) const {
  if (accesses_memory(a) && accesses_memory(b)) {
    return (cells(a.location) & cells(b.location)) == 0 || (!may_write(a) && !may_write(b));
  }
  const auto is_sc = [](const Op& op) {
    return op.kind == Kind::kMembar || (op.kind == Kind::kFence && op.sem == Sem::kSc);
  };
  if (is_sc(a) && is_sc(b)) return !rules_.fence_sc;
  if (is_barrier(a) && is_barrier(b)) return barrier(thread, a) != barrier(other, b);
  const auto at_object = [](const Op& op) {
    return op.kind == Kind::kArrive || op.kind == Kind::kWait;
  };
  if (at_object(a) && at_object(b))
    return a.id != b.id || (a.kind == Kind::kWait && b.kind == Kind::kWait);
  return true;
}

Execution::Execution(const Setting& setting) : setting_(&setting) {}

bool Execution::finished() const {
  for (std::size_t t = 0; t < setting_->program().threads.size(); ++t) {
    if (pc_[t] < setting_->program().threads[t].ops.size()) return false;
  }
  return true;
}

std::uint8_t Execution::enabled() const {
  std::uint8_t all = 0;
  for (int t = 0; t < static_cast<int>(setting_->program().threads.size()); ++t) {
    if (can_step(t)) all |= static_cast<std::uint8_t>(1u << t);
  }
  return all;
}

bool Execution::can_step(int t) const {
  if (broken_ || cut_ || (blocked_ >> t & 1) || pc_[t] >= setting_->program().threads[t].ops.size())
    return false;
  const Op& op = next(t);
  // A thread that waits for a value may read other values, but only once after each change:
  // repeated reads change nothing.
  if (awaits(op)) return read(op.location) == op.compare || !(polled_ >> t & 1);
  if (op.kind == Kind::kWait) return ((objects_[op.id].phase ^ op.value) & 1) != 0;
  if (op.kind == Kind::kClusterWait) {
    int before = 0;
    for (int i = 0; i < pc_[t]; ++i)
      before += setting_->program().threads[t].ops[i].kind == Kind::kClusterWait;
    return clusters_[cluster_of(t)].phase > before;
  }
  return true;
}

void Execution::step(int t, std::vector<Race>& races) {
  const Op& op = next(t);
  switch (op.kind) {
    case Kind::kFence:
    case Kind::kMembar: fence(t, op); break;
    case Kind::kProxyFence: break;
    case Kind::kBranch:
      if (op.id != kAlways && (results_[t][op.id] == op.compare) != op.equal) break;
      cut_ |= op.target <= pc_[t] && ++rounds_[t] > kMostRounds;
      pc_[t] = op.target;
      return;
    case Kind::kBarSync:
    case Kind::kBarArrive:
    case Kind::kWarpSync: come_to_barrier(t, op); return;
    case Kind::kClusterArrive:
    case Kind::kArrive: arrive(t, op); break;
    case Kind::kClusterWait:
      acquire(t, Scope::kCluster, observed(clusters_[cluster_of(t)], t, Scope::kCluster));
      break;
    case Kind::kWait: {
      Messages& found = found_[t][kMaxLocations + op.id];
      const Scope scope = setting_->rules().mbarrier_scopes ? Scope::kCluster : op.scope;
      found.join(observed(objects_[op.id], t, scope));
      if (op.sem == Sem::kAcquire) acquire(t, scope, found);
      break;
    }
    default: {
      if (awaits(op) && read(op.location) != op.compare) {
        access(t, op, races);
        polled_ |= static_cast<std::uint8_t>(1u << t);
        return;
      }
      access(t, op, races);
      polled_ &= static_cast<std::uint8_t>(~(1u << t));
    }
  }
  ++pc_[t];
}

void Execution::access(int t, const Op& op, std::vector<Race>& races) {
  const Rules& rules = setting_->rules();
  if (event_count_ == kMaxEvents) {
    broken_ = true;
    return;
  }
  const std::uint64_t old = read(op.location);
  const bool fails = is_cas(op) && old != op.compare;
  const bool is_rmw = op.kind == Kind::kAtom || op.kind == Kind::kRed || op.kind == Kind::kAwaitCas;
  Event e{};
  e.thread = static_cast<std::uint8_t>(t);
  e.op = pc_[t];
  e.location = op.location;
  e.strong = op.sem != Sem::kWeak;
  e.scope = scope_of(op);
  e.reads = may_read(op);
  e.writes = may_write(op) && !fails;
  // A red, or an operation that is treated as one, reads without its thread observing the value.
  const bool as_red =
      op.kind == Kind::kRed ||
      (rules.unused_atom_is_red && op.kind == Kind::kAtom && !op.used && !acquires(op.sem));
  const bool reads = e.reads && !as_red;
  const std::uint16_t cells = setting_->cells(op.location);
  std::uint16_t linked = 0;  // cells whose last write this operation reads in observation order
  Messages& found = found_[t][op.location];
  each_bit(cells, [&](int c) {
    const Cell& cell = cells_[c];
    if (!e.reads || cell.last < 0 || !morally_strong(events_[cell.last], e)) return;
    linked |= static_cast<std::uint16_t>(1u << c);
    if (reads && e.strong) found.join(cell.messages);
  });
  if (reads && acquires(op.sem)) acquire(t, e.scope, found);
  e.epoch = ++clock_[t][t];
  // 8.7.1
  std::uint64_t earlier = 0;
  each_bit(cells, [&](int c) { earlier |= cells_[c].accesses; });
  each_bit(earlier, [&](int i) {
    const Event& d = events_[i];
    if (d.thread == t || !(d.writes || e.writes) || morally_strong(d, e) || ordered(d, t)) return;
    if (!rules.three_threads && !setting_->is_of_two_threads(cells & setting_->cells(d.location)))
      return;
    if (rules.chain_stands && d.writes && d.strong) {
      bool stands = true;
      each_bit(cells, [&](int c) {
        const Cell& cell = cells_[c];
        if (cell.accesses >> i & 1)
          stands = stands && (cell.chain >> i & 1) && morally_strong(events_[cell.last], e);
      });
      if (stands) return;
    }
    races.push_back({d.thread, d.op, e.thread, e.op});
  });
  const int number = event_count_++;
  each_bit(linked, [&](int c) {
    if (!reads && !rules.red_observes) return;
    if (!e.strong && !rules.weak_observes) return;
    each_bit(cells_[c].chain, [&](int w) {
      if (!rules.parts_observe && is_read_in_parts(w, cells, linked)) return;
      std::uint8_t& by = events_[w].observed[t];
      if (by == 0) by = e.epoch;
    });
  });
  events_[number] = e;
  if (e.writes && releases(op.sem)) {
    Clock& own = released_[t][op.location].of[t][static_cast<int>(e.scope)];
    join(own, clock_[t]);
  }
  each_bit(cells, [&](int c) {
    Cell& cell = cells_[c];
    cell.accesses |= std::uint64_t{1} << number;
    if (!e.writes) return;
    if (!(is_rmw && (linked >> c & 1))) {
      cell.chain = 0;
      cell.messages = {};
    }
    cell.chain |= std::uint64_t{1} << number;
    cell.last = static_cast<std::int8_t>(number);
    if (!e.strong) return;
    cell.messages.join(fences_[t]);
    cell.messages.join(released_[t][op.location]);
    for (std::size_t l = 0; rules.mixed_sizes && l < setting_->program().locations.size(); ++l) {
      if (setting_->cells(static_cast<int>(l)) >> c & 1) cell.messages.join(released_[t][l]);
    }
  });
  if (has_result(op)) {
    results_[t][pc_[t]] = old;
  }
  if (e.writes) {
    std::uint64_t now = op.value;
    if (is_rmw && op.kind != Kind::kAwaitCas && op.rmw == Rmw::kAdd) now = old + op.value;
    write(op.location, now);
    for (std::size_t u = 0; u < setting_->program().threads.size(); ++u) {
      if (pc_[u] >= setting_->program().threads[u].ops.size()) continue;
      const Op& waits = next(static_cast<int>(u));
      if (awaits(waits) && (setting_->cells(waits.location) & cells) != 0)
        polled_ &= static_cast<std::uint8_t>(~(1u << u));
    }
  }
}

void Execution::fence(int t, const Op& op) {
  const Sem sem = op.kind == Kind::kMembar ? Sem::kSc : op.sem;
  if (acquires(sem)) {
    for (const Messages& found : found_[t]) acquire(t, op.scope, found);
  }
  if (sem == Sem::kSc && setting_->rules().fence_sc) acquire(t, op.scope, sc_);
  ++clock_[t][t];
  if (sem == Sem::kSc) sc_.of[t][static_cast<int>(op.scope)] = clock_[t];
  if (releases(sem)) fences_[t].of[t][static_cast<int>(op.scope)] = clock_[t];
}

int Execution::cluster_of(int t) const {
  return setting_->program().threads[t].block / setting_->program().cluster;
}

void Execution::arrive(int t, const Op& op) {
  const bool cluster = op.kind == Kind::kClusterArrive;
  const Scope scope = cluster || setting_->rules().mbarrier_scopes ? Scope::kCluster : op.scope;
  Phases& at = cluster ? clusters_[cluster_of(t)] : objects_[op.id];
  ++clock_[t][t];  // an operation, which a message must have: 0 is none
  Messages carried = fences_[t];
  if (cluster) {
    if (op.sem == Sem::kRelease) join(carried.of[t][static_cast<int>(scope)], clock_[t]);
  } else {
    Messages& own = released_[t][kMaxLocations + op.id];
    if (op.sem == Sem::kRelease) own.of[t][static_cast<int>(scope)] = clock_[t];
    carried.join(own);
  }
  at.pending[t][static_cast<int>(scope)].join(carried);
  const int expected = cluster ? std::popcount(setting_->cluster_mates(t))
                               : setting_->program().objects[op.id].count;
  if (++at.arrived != expected) return;
  at.arrived = 0;
  ++at.phase;
  for (int u = 0; u < kMaxThreads; ++u) {
    for (int s = 0; s < 2; ++s) at.complete[u][s].join(at.pending[u][s]);
  }
}

// The messages that a wait observes from the completed phases.
Execution::Messages Execution::observed(const Phases& at, int t, Scope scope) const {
  Messages all;
  each_bit(setting_->reach(t, scope), [&](int u) {
    for (int s = 0; s < 2; ++s) {
      if (setting_->reach(u, static_cast<Scope>(s)) >> t & 1) all.join(at.complete[u][s]);
    }
  });
  return all;
}

void Execution::come_to_barrier(int t, const Op& op) {
  Barrier& b = barriers_[setting_->barrier(t, op)];
  const std::uint8_t bit = static_cast<std::uint8_t>(1u << t);
  b.came |= bit;
  if (op.kind == Kind::kBarArrive) {
    ++pc_[t];
  } else {
    b.waiting |= bit;
    blocked_ |= bit;
  }
  const Clock before = clock_[t];
  if (setting_->rules().barrier_fences && op.kind != Kind::kWarpSync) {
    for (const Messages& found : found_[t]) acquire(t, Scope::kGpu, found);
  }
  join(b.clock, clock_[t]);
  clock_[t] = before;
  b.fences.join(fences_[t]);
  // Operations after an arrival are not ordered before any thread's wait.
  ++clock_[t][t];
  if (op.kind == Kind::kWarpSync) {
    if (b.came == setting_->in_mask(t, op.mask)) open(b);
    return;
  }
  // All threads of a warp arrive together.
  if ((b.came & setting_->warp_mates(t)) != setting_->warp_mates(t)) return;
  b.came &= static_cast<std::uint8_t>(~setting_->warp_mates(t));
  const int expected = op.warps != 0 ? op.warps : setting_->warps(t);
  if (b.arrivals != 0 && b.expected != expected) broken_ = true;
  b.expected = static_cast<std::uint8_t>(expected);
  if (++b.arrivals == expected) open(b);
}

void Execution::open(Barrier& b) {
  each_bit(b.waiting, [&](int t) {
    join(clock_[t], b.clock);
    if (setting_->rules().block_fences) fences_[t].join(b.fences);
    ++pc_[t];
  });
  blocked_ &= static_cast<std::uint8_t>(~b.waiting);
  b = Barrier{};
}

std::uint64_t Execution::read(int location) const {
  std::uint64_t value = 0;
  const int from = setting_->program().locations[location].offset;
  each_bit(setting_->cells(location),
           [&](int c) { value |= cells_[c].value << 8 * (setting_->cell(c).begin - from); });
  return value;
}

void Execution::write(int location, std::uint64_t value) {
  const int from = setting_->program().locations[location].offset;
  each_bit(setting_->cells(location), [&](int c) {
    const Setting::Cell& at = setting_->cell(c);
    const std::uint64_t mask =
        at.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * at.bytes) - 1;
    cells_[c].value = value >> 8 * (at.begin - from) & mask;
  });
}

std::uint64_t Execution::outcome() const {
  std::uint64_t all = 0;
  for (std::size_t t = 0; t < setting_->program().threads.size(); ++t) {
    const std::vector<Op>& ops = setting_->program().threads[t].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (has_result(ops[i]))
        all += outcome_of_result(static_cast<int>(t), static_cast<int>(i), results_[t][i]);
    }
  }
  const std::vector<Location>& locations = setting_->program().locations;
  for (std::size_t l = 0; l < locations.size(); ++l) {
    if (!locations[l].shared)
      all += outcome_of_memory(static_cast<int>(l), read(static_cast<int>(l)));
  }
  return all;
}

// Whether an operation on `cells`, which reads the chains of `linked` among them, gets some bytes
// of a write and not others that it accesses, too.
bool Execution::is_read_in_parts(int write, std::uint16_t cells, std::uint16_t linked) const {
  bool parts = false;
  each_bit(cells & setting_->cells(events_[write].location),
           [&](int c) { parts |= (linked >> c & 1) == 0 || (cells_[c].chain >> write & 1) == 0; });
  return parts;
}

// 8.7: by the same thread, or both strong with scopes that include each other; and they overlap
// completely.
bool Execution::morally_strong(const Event& a, const Event& b) const {
  const Location& x = setting_->program().locations[a.location];
  const Location& y = setting_->program().locations[b.location];
  const bool same = a.location == b.location || (x.offset == y.offset && x.bytes == y.bytes);
  if (a.thread == b.thread) return same;
  if (!a.strong || !b.strong) return false;
  if (!same && !setting_->rules().mixed_sizes) return false;
  return (setting_->reach(a.thread, a.scope) >> b.thread & 1) &&
         (setting_->reach(b.thread, b.scope) >> a.thread & 1);
}

// 8.9.5: before `thread`'s current operation in base causality order, or observed by an operation
// that is.
bool Execution::ordered(const Event& before, int t) const {
  if (clock_[t][before.thread] >= before.epoch) return true;
  for (int u = 0; u < kMaxThreads; ++u) {
    if (before.observed[u] != 0 && clock_[t][u] >= before.observed[u]) return true;
  }
  return false;
}

void Execution::acquire(int t, Scope scope, const Messages& messages) {
  each_bit(setting_->reach(t, scope), [&](int from) {
    for (int s = 0; s < 4; ++s) {
      const Clock& clock = messages.of[from][s];
      if (clock[from] != 0 && (setting_->reach(from, static_cast<Scope>(s)) >> t & 1))
        join(clock_[t], clock);
    }
  });
}

}  // namespace lockstep::litmus
