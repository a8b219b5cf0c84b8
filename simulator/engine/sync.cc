#include "simulator/engine/sync.h"

#include <algorithm>
#include <bit>
#include <set>

#include "simulator/engine/mbarrier.h"
#include "simulator/engine/races.h"
#include "simulator/engine/report.h"
#include "simulator/engine/track.h"

namespace lockstep::engine {
namespace {

// Lanes of one fragment that take part in an exchange, with the operation and the bank of that fragment.
struct Part {
  const Op* op = nullptr;
  std::byte* bank = nullptr;
  std::int32_t frame = 0;
  LaneMask lanes = 0;
  std::uint32_t pc = 0;
};

template <class T>
const T* operand(const Warp& w, const Part& part, Slot slot) {
  return reinterpret_cast<const T*>((is_constant(slot) ? w.bank[1] : part.bank) + (slot & ~Slot{1}));
}
template <class T>
T* result(const Part& part, Slot slot) {
  return reinterpret_cast<T*>(part.bank + slot);
}
LaneMask mask_operand(const Warp& w, const Part& part, Slot slot) { return *operand<LaneMask>(w, part, slot); }
void write_mask(const Part& part, Slot slot, LaneMask value) {
  if (slot == kNoSlot) return;
  LaneMask* p = result<LaneMask>(part, slot);
  *p = (*p & ~part.lanes) | (value & part.lanes);
}

template <class F>
void each(LaneMask lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

std::string hex(std::uint32_t v) {
  char s[16];
  std::snprintf(s, sizeof s, "0x%08x", v);
  return s;
}

void shuffle(Warp& w, SyncKind kind, const Part* parts, int n, LaneMask lanes) {
  std::uint32_t value[kWarpSize] = {};
  LaneMask invalid = 0, derived = 0;
  std::uint32_t invalid_pc = 0;
  check::Kind invalid_kind = check::Kind::kUninitialised;
  const bool tracking = w.control->tracking;
  for (int i = 0; i < n; ++i) {
    const auto* a = operand<std::uint32_t>(w, parts[i], parts[i].op->src[0]);
    each(parts[i].lanes, [&](int l) { value[l] = a[l]; });
    if (tracking && !is_constant(parts[i].op->src[0])) {
      if (const Validity::Word* word = validity_word(w.control->frames[parts[i].frame], parts[i].op->src[0])) {
        const LaneMask bad = word->invalid & parts[i].lanes;
        invalid |= bad;
        derived |= word->derived & bad;
        if (bad) invalid_pc = word->pc, invalid_kind = word->kind;
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    const Part& part = parts[i];
    const auto* bs = operand<std::uint32_t>(w, part, part.op->src[1]);
    const auto* cs = operand<std::uint32_t>(w, part, part.op->src[2]);
    std::uint32_t* d = result<std::uint32_t>(part, part.op->dst);
    LaneMask in_range = 0, inactive = 0, carried = 0, carried_derived = 0;
    each(part.lanes, [&](int l) {
      const int b = static_cast<int>(bs[l] & 31), clamp = static_cast<int>(cs[l] & 31), segment = static_cast<int>(cs[l] >> 8 & 31);
      const int max_lane = (l & segment) | (clamp & ~segment);
      const int min_lane = l & segment;
      int j = l;
      bool p = false;
      switch (kind) {
        case SyncKind::kShflUp: j = l - b; p = j >= max_lane; break;
        case SyncKind::kShflDown: j = l + b; p = j <= max_lane; break;
        case SyncKind::kShflBfly: j = l ^ b; p = j <= max_lane; break;
        default: j = min_lane | (b & ~segment); p = j <= max_lane; break;
      }
      if (!p) j = l;
      if (p) in_range |= 1u << l;
      if (!(lanes >> j & 1)) inactive |= 1u << l;
      if (invalid >> j & 1) carried |= 1u << l, carried_derived |= (derived >> j & 1) << l;
      d[l] = value[j];
    });
    write_mask(part, part.op->dst2, in_range);
    w.control->frame = part.frame;  // for the marks below
    if (tracking || (inactive && w.block->launch->check_synchronisation)) {
      if (!tracking) begin_tracking(w);
      if (carried) {
        mark_register(w, part.op->dst, carried, part.lanes, invalid_pc, invalid_kind);
        if (Validity::Word* word = validity_word(w.control->frames[part.frame], part.op->dst)) word->derived |= carried_derived;
      } else {
        mark_register(w, part.op->dst, 0, part.lanes, part.pc);
      }
      // The value of a lane that does not take part is undefined; whether anybody uses it shows later.
      if (inactive) mark_register(w, part.op->dst, inactive, 0, part.pc, check::Kind::kInactiveLane);
    }
  }
}

void vote(Warp& w, SyncKind kind, const Part* parts, int n, LaneMask lanes) {
  LaneMask yes = 0;
  for (int i = 0; i < n; ++i) yes |= mask_operand(w, parts[i], parts[i].op->src[0]) & parts[i].lanes;
  for (int i = 0; i < n; ++i) {
    const Part& part = parts[i];
    switch (kind) {
      case SyncKind::kVoteAll: write_mask(part, part.op->dst, yes == lanes ? kAllLanes : 0); break;
      case SyncKind::kVoteAny: write_mask(part, part.op->dst, yes ? kAllLanes : 0); break;
      case SyncKind::kVoteUni: write_mask(part, part.op->dst, yes == lanes || yes == 0 ? kAllLanes : 0); break;
      default: {
        std::uint32_t* d = result<std::uint32_t>(part, part.op->dst);
        each(part.lanes, [&](int l) { d[l] = yes; });
      }
    }
  }
}

void match(Warp& w, SyncKind kind, const Part* parts, int n, LaneMask lanes) {
  std::uint64_t value[kWarpSize] = {};
  for (int i = 0; i < n; ++i) {
    const Slot a = parts[i].op->src[0];
    each(parts[i].lanes, [&](int l) {
      value[l] = parts[i].op->width == 8 ? operand<std::uint64_t>(w, parts[i], a)[l] : operand<std::uint32_t>(w, parts[i], a)[l];
    });
  }
  LaneMask same[kWarpSize] = {};
  each(lanes, [&](int l) { each(lanes, [&](int k) { same[l] |= LaneMask{value[l] == value[k]} << k; }); });
  for (int i = 0; i < n; ++i) {
    const Part& part = parts[i];
    std::uint32_t* d = part.op->dst == kNoSlot ? nullptr : result<std::uint32_t>(part, part.op->dst);
    const bool all = same[std::countr_zero(lanes)] == lanes;
    each(part.lanes, [&](int l) {
      if (d) d[l] = kind == SyncKind::kMatchAny ? same[l] : all ? lanes : 0;
    });
    if (kind == SyncKind::kMatchAll) write_mask(part, part.op->dst2, all ? kAllLanes : 0);
  }
}

// Numbers before NaNs unless these are wanted; minus zero below plus zero.
std::uint32_t float_extreme(bool smaller, bool wants_nan, std::uint32_t a, std::uint32_t b) {
  const auto is_nan = [](std::uint32_t v) { return (v & 0x7fffffffu) > 0x7f800000u; };
  if (is_nan(a) || is_nan(b)) return wants_nan || (is_nan(a) && is_nan(b)) ? 0x7fffffffu : is_nan(a) ? b : a;
  // Sign and magnitude as two's complement.
  const auto ordered = [](std::uint32_t v) { return static_cast<std::int32_t>(v >> 31 ? ~(v & 0x7fffffffu) : v); };
  return (ordered(a) < ordered(b)) == smaller ? a : b;
}

void reduce(Warp& w, SyncKind kind, const Part* parts, int n) {
  const bool abs = (parts[0].op->immediate & kReduxAbs) != 0, wants_nan = (parts[0].op->immediate & kReduxNaN) != 0;
  bool first = true;
  std::uint32_t r = 0;
  for (int i = 0; i < n; ++i) {
    const auto* a = operand<std::uint32_t>(w, parts[i], parts[i].op->src[0]);
    each(parts[i].lanes, [&](int l) {
      const std::uint32_t v = abs ? a[l] & 0x7fffffffu : a[l];
      if (first) {
        const bool number = kind == SyncKind::kReduxMinF || kind == SyncKind::kReduxMaxF;
        r = number ? float_extreme(true, false, v, v) : v;  // a NaN becomes the canonical one
        first = false;
        return;
      }
      const auto sr = static_cast<std::int32_t>(r), sv = static_cast<std::int32_t>(v);
      switch (kind) {
        case SyncKind::kReduxAdd: r += v; break;
        case SyncKind::kReduxMinU: r = std::min(r, v); break;
        case SyncKind::kReduxMaxU: r = std::max(r, v); break;
        case SyncKind::kReduxMinS: r = static_cast<std::uint32_t>(std::min(sr, sv)); break;
        case SyncKind::kReduxMaxS: r = static_cast<std::uint32_t>(std::max(sr, sv)); break;
        case SyncKind::kReduxAnd: r &= v; break;
        case SyncKind::kReduxOr: r |= v; break;
        case SyncKind::kReduxMinF: r = float_extreme(true, wants_nan, r, v); break;
        case SyncKind::kReduxMaxF: r = float_extreme(false, wants_nan, r, v); break;
        default: r ^= v; break;
      }
    });
  }
  for (int i = 0; i < n; ++i) {
    std::uint32_t* d = result<std::uint32_t>(parts[i], parts[i].op->dst);
    each(parts[i].lanes, [&](int l) { d[l] = r; });
  }
}

// Executes an exchange among `lanes`, which all have arrived.
void perform(Warp& w, const Part* parts, int n, LaneMask lanes) {
  const auto kind = static_cast<SyncKind>(parts[0].op->flags);
  Counters& counters = w.block->worker->counters;
  const std::int32_t frame = w.control->frame;
  switch (kind) {
    case SyncKind::kShflUp: case SyncKind::kShflDown: case SyncKind::kShflBfly: case SyncKind::kShflIdx:
      ++counters.shuffles;
      shuffle(w, kind, parts, n, lanes);
      break;
    case SyncKind::kVoteAll: case SyncKind::kVoteAny: case SyncKind::kVoteUni: case SyncKind::kVoteBallot:
      ++counters.votes;
      vote(w, kind, parts, n, lanes);
      break;
    case SyncKind::kMatchAny: case SyncKind::kMatchAll:
      ++counters.votes;
      match(w, kind, parts, n, lanes);
      break;
    case SyncKind::kElect: {
      const int leader = std::countr_zero(lanes);
      for (int i = 0; i < n; ++i) {
        if (parts[i].op->dst != kNoSlot) {
          std::uint32_t* d = result<std::uint32_t>(parts[i], parts[i].op->dst);
          each(parts[i].lanes, [&](int l) { d[l] = static_cast<std::uint32_t>(leader); });
        }
        write_mask(parts[i], parts[i].op->dst2, 1u << leader);
      }
      break;
    }
    case SyncKind::kWarpBarrier:
      if (w.block->launch->check_races) w.block->races.warp_sync(w.index, lanes, lanes == living(w));
      break;
    default:
      reduce(w, kind, parts, n);
  }
  w.control->frame = frame;
}

bool check_membership(Warp& w, const Op& op, LaneMask mask, const std::uint32_t* members) {
  LaneMask outside = 0;
  each(mask, [&](int l) { outside |= LaneMask{!(members[l] >> l & 1)} << l; });
  if (outside == 0) return true;
  if (!w.block->launch->check_synchronisation) return true;
  check::Finding f = finding_at(w, w.pc - 1, outside, check::Kind::kInvalidMask);
  f.where = "the mask " + hex(members[std::countr_zero(outside)]) + " leaves out lane " + std::to_string(std::countr_zero(outside)) +
            ", which executes it";
  f.detail = "A thread that executes a *.sync operation must be named in its mask.";
  (void)op;
  report(w, std::move(f));
  return false;
}

}  // namespace

void run_sync(Warp& w, const Op& op, LaneMask mask) {
  const auto* members = source<std::uint32_t>(w, op.src[3]);
  if (!check_membership(w, op, mask, members)) return;
  // The common case: one mask, and all of its living lanes are here.
  const LaneMask first = members[std::countr_zero(mask)];
  LaneMask differ = 0;
  each(mask, [&](int l) { differ |= members[l] ^ first; });
  if (differ == 0 && (first & living(w)) == (mask & first)) {
    const Part part{&op, w.bank[0], w.control->frame, mask, w.pc - 1};
    perform(w, &part, 1, mask);
    return;
  }
  park(w, mask, Fragment::State::kAtSync);
  complete_syncs(w);
}

void run_activemask(Warp& w, const Op& op, LaneMask mask) {
  std::uint32_t* d = destination<std::uint32_t>(w, op.dst);
  each(mask, [&](int l) { d[l] = mask; });
}

bool complete_syncs(Warp& w) {
  auto& list = w.control->fragments;
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    const Op* ops = w.block->program->ops.data();
    for (std::size_t i = 0; i < list.size() && !again; ++i) {
      if (list[i].state != Fragment::State::kAtSync) continue;
      const Op& op = ops[list[i].pc];
      const auto mask_of = [&](const Fragment& f, int lane) {
        const Slot s = ops[f.pc].src[3];
        const std::byte* bank = is_constant(s) ? w.bank[1] : w.control->frames[f.frame].bank;
        return reinterpret_cast<const std::uint32_t*>(bank + (s & ~Slot{1}))[lane];
      };
      LaneMask todo = list[i].mask;
      while (todo != 0 && !again) {
        const std::uint32_t members = mask_of(list[i], std::countr_zero(todo));
        Part parts[kWarpSize];
        std::size_t where[kWarpSize];
        int n = 0;
        LaneMask here = 0;
        for (std::size_t j = 0; j < list.size(); ++j) {
          const Fragment& f = list[j];
          const Op& other = ops[f.pc];
          if (f.state != Fragment::State::kAtSync || other.flags != op.flags || other.immediate != op.immediate || other.width != op.width) {
            continue;
          }
          LaneMask lanes = 0;
          each(f.mask, [&](int l) { lanes |= LaneMask{mask_of(f, l) == members} << l; });
          if (lanes == 0) continue;
          where[n] = j;
          parts[n++] = {&other, w.control->frames[f.frame].bank, f.frame, lanes, f.pc};
          here |= lanes;
        }
        todo &= ~here;
        if (((members & living(w)) & ~here) != 0) continue;
        perform(w, parts, n, here);
        for (int k = 0; k < n; ++k) {
          Fragment& f = list[where[k]];
          const Fragment released{f.pc + 1, parts[k].lanes, f.frame, Fragment::State::kRunnable, false};
          f.mask &= ~parts[k].lanes;
          list.push_back(released);
        }
        std::erase_if(list, [](const Fragment& f) { return f.mask == 0; });
        again = any = true;
      }
    }
  }
  return any;
}

namespace {

// Lets the warps that wait at barrier `id` go on.
void release(Block& b, int id) {
  Barrier& barrier = b.barriers[id];
  ++b.worker->counters.barriers;
  for (std::uint32_t waiting = barrier.waiting; waiting != 0; waiting &= waiting - 1) {
    Warp& w = b.warps[std::countr_zero(waiting)];
    for (Fragment& f : w.control->fragments) {
      if (f.state != Fragment::State::kAtBarrier) continue;
      const Op& op = b.program->ops[f.pc];
      const Part part{&op, w.control->frames[f.frame].bank, f.frame, f.mask, f.pc};
      switch (op.flags & kBarKind) {
        case kBarRedAnd: write_mask(part, op.dst, barrier.red_and ? kAllLanes : 0); break;
        case kBarRedOr: write_mask(part, op.dst, barrier.red_or ? kAllLanes : 0); break;
        case kBarRedPopc: each(f.mask, [&](int l) { result<std::uint32_t>(part, op.dst)[l] = barrier.red_count; }); break;
        default: break;
      }
      f.state = Fragment::State::kRunnable;
      ++f.pc;
    }
    w.control->barrier = -1;
    b.runnable |= 1u << w.index;
  }
  if (b.launch->check_races) {
    std::uint32_t live = 0;
    for (const Warp& w : b.warps) live |= std::uint32_t{living(w) != 0} << w.index;
    if (barrier.waiting == live && barrier.warps == live) {
      b.races.block_barrier();
    } else {
      b.races.complete(id, barrier.waiting);
    }
    passed_barrier(b);
  }
  barrier = Barrier{};
}

void release_if_complete(Block& b, int id) {
  Barrier& barrier = b.barriers[id];
  if (barrier.warps == 0) return;
  if (barrier.expected != 0) {
    if (barrier.arrived >= barrier.expected) release(b, id);
    return;
  }
  for (const Warp& w : b.warps) {
    if (living(w) != 0 && !(barrier.warps >> w.index & 1)) return;
  }
  release(b, id);
}

// A whole warp arrives, waiting or not.
bool arrive(Warp& w, const Fragment& f, int id, bool waits) {
  Block& b = *w.block;
  Barrier& barrier = b.barriers[id];
  const Op& op = b.program->ops[f.pc];
  std::uint32_t count = 0;
  if (op.src[1] != kNoSlot) {
    const std::byte* bank = is_constant(op.src[1]) ? w.bank[1] : w.control->frames[f.frame].bank;
    count = reinterpret_cast<const std::uint32_t*>(bank + (op.src[1] & ~Slot{1}))[std::countr_zero(f.mask)];
    if (count % kWarpSize != 0 || count == 0) {
      check::Finding finding = finding_at(w, f.pc, f.mask, check::Kind::kInvalidInstruction);
      finding.where = "a barrier for " + std::to_string(count) + " threads: the count must be a positive multiple of 32";
      report(w, std::move(finding));
      return false;
    }
  }
  if (barrier.warps != 0 && barrier.expected != count) {
    check::Finding finding = finding_at(w, f.pc, f.mask, check::Kind::kBarrierDivergence);
    const auto text = [](std::uint32_t n) { return n ? std::to_string(n) + " threads" : std::string("all threads"); };
    finding.where = "barrier " + std::to_string(id) + " for " + text(count) + ", but others wait there for " + text(barrier.expected);
    report(w, std::move(finding));
    return false;
  }
  if (barrier.warps == 0) barrier.pc = f.pc;
  barrier.expected = count;
  barrier.arrived += kWarpSize;
  barrier.warps |= 1u << w.index;
  if (waits) barrier.waiting |= 1u << w.index;
  if (b.launch->check_races && count != 0) b.races.arrive(w.index, id);
  return true;
}

}  // namespace

void recheck_barriers(Block& b) {
  for (int id = 0; id < 16; ++id) {
    if (b.barriers[id].expected == 0) release_if_complete(b, id);
  }
}

void run_bar(Warp& w, const Op& op, LaneMask mask) {
  const auto* ids = source<std::uint32_t>(w, op.src[0]);
  const std::uint32_t id = ids[std::countr_zero(mask)];
  LaneMask differ = 0;
  each(mask, [&](int l) { differ |= LaneMask{ids[l] != id} << l; });
  if (id > 15 || differ) {
    check::Finding f = finding_at(w, w.pc - 1, differ ? differ : mask, check::Kind::kInvalidInstruction);
    f.where = id > 15 ? "barrier " + std::to_string(id) + ": there are 16, from 0" : "lanes of one warp name different barriers";
    report(w, std::move(f));
    return;
  }
  if ((op.flags & kBarKind) == kBarArrive) {
    LaneMask& arrived = w.control->arrived[id];
    arrived |= mask;
    if ((arrived & living(w)) == living(w)) {
      arrived = 0;
      const Fragment here{w.pc - 1, mask, w.control->frame, Fragment::State::kRunnable, false};
      if (arrive(w, here, static_cast<int>(id), false)) release_if_complete(*w.block, static_cast<int>(id));
    }
    return;
  }
  park(w, mask, Fragment::State::kAtBarrier);
}

bool warp_reaches_barrier(Warp& w) {
  WarpControl& c = *w.control;
  Block& b = *w.block;
  if (c.barrier >= 0) return false;
  LaneMask here = 0;
  std::vector<const Fragment*> at;
  for (const Fragment& f : c.fragments) {
    if (f.state != Fragment::State::kAtBarrier) continue;
    here |= f.mask;
    at.push_back(&f);
  }
  if (at.empty() || here != living(w)) return false;
  const auto id_of = [&](const Fragment& f) {
    const Slot s = b.program->ops[f.pc].src[0];
    const std::byte* bank = is_constant(s) ? w.bank[1] : c.frames[f.frame].bank;
    return static_cast<int>(reinterpret_cast<const std::uint32_t*>(bank + (s & ~Slot{1}))[std::countr_zero(f.mask)]);
  };
  const Fragment& first = *at[0];
  const int id = id_of(first);
  for (const Fragment* f : at) {
    const bool aligned = ((b.program->ops[f->pc].flags | b.program->ops[first.pc].flags) & kBarAligned) != 0;
    if (id_of(*f) == id && (f->pc == first.pc || !aligned)) continue;
    if (!b.launch->check_synchronisation && id_of(*f) == id) continue;
    check::Finding finding = finding_at(w, f->pc, f->mask, check::Kind::kBarrierDivergence);
    finding.where = id_of(*f) == id ? "other lanes of the same warp wait at another barrier instruction"
                                    : "other lanes of the same warp wait at barrier " + std::to_string(id);
    finding.access.is_write = false;
    check::Access other;
    other.site = site_of(*b.program, first.pc);
    other.block = b.ctaid;
    other.thread = thread_of(*b.launch, w.index * kWarpSize + std::countr_zero(first.mask));
    finding.other = other;
    finding.detail = "All threads of a warp must execute the same bar.sync; the condition around it differs between threads.";
    report(w, std::move(finding));
    return false;
  }
  Barrier& barrier = b.barriers[id];
  LaneMask yes = 0;
  for (const Fragment* f : at) {
    const Op& op = b.program->ops[f->pc];
    if (op.src[2] == kNoSlot) continue;
    const std::byte* bank = is_constant(op.src[2]) ? w.bank[1] : c.frames[f->frame].bank;
    yes |= *reinterpret_cast<const LaneMask*>(bank + (op.src[2] & ~Slot{1})) & f->mask;
  }
  if (!arrive(w, first, id, true)) return false;
  if ((b.program->ops[first.pc].flags & kBarKind) >= kBarRedAnd) {
    barrier.red_or |= yes;
    barrier.red_and &= yes == here;
    barrier.red_count += static_cast<std::uint32_t>(std::popcount(yes));
  }
  c.barrier = id;
  release_if_complete(b, id);
  return c.barrier < 0;
}

void run_fence(Warp& w, const Op& op, LaneMask) { fence(w, static_cast<check::Reach>(op.reach)); }

void report_stuck(Block& b) {
  // Every group of lanes that waits, where, and for what.
  std::string list;
  bool at_barrier = false, at_sync = false, at_mbarrier = false;
  std::uint32_t barriers = 0;  // those with a count that warps wait at, a bit each
  Warp* first_warp = nullptr;
  const Fragment* first = nullptr;
  int listed = 0;
  for (Warp& w : b.warps) {
    const std::int32_t id = w.control->barrier;
    if (id >= 0 && b.barriers[id].expected != 0) barriers |= 1u << id;
    for (const Fragment& f : w.control->fragments) {
      const bool sync = f.state == Fragment::State::kAtSync, mbarrier = f.state == Fragment::State::kAtMbarrier;
      // A *.sync that its own lanes leave incomplete is the cause, or else an mbarrier; barriers are where the others end up.
      if (first == nullptr || (sync && !at_sync) || (mbarrier && !at_sync && !at_mbarrier)) first = &f, first_warp = &w;
      (sync ? at_sync : mbarrier ? at_mbarrier : at_barrier) = true;
      if (++listed > 16) continue;
      list += "\n    warp " + std::to_string(w.index) + " lanes " + hex(f.mask) + " at " + site_of(*b.program, f.pc).to_string();
    }
  }
  if (listed > 16) list += "\n    and " + std::to_string(listed - 16) + " more groups";
  if (first == nullptr) {
    b.aborted = true;
    return;
  }
  const bool crossed = (barriers & (barriers - 1)) != 0;
  check::Finding f = finding_at(*first_warp, first->pc, first->mask,
                                at_sync                                   ? check::Kind::kInvalidMask
                                : at_barrier && !at_mbarrier && !crossed ? check::Kind::kBarrierDivergence
                                                                          : check::Kind::kDeadlock);
  if (at_sync) {
    const Slot s = b.program->ops[first->pc].src[3];
    const std::byte* bank = is_constant(s) ? first_warp->bank[1] : first_warp->control->frames[first->frame].bank;
    const auto members = reinterpret_cast<const std::uint32_t*>(bank + (s & ~Slot{1}))[std::countr_zero(first->mask)];
    f.where = "the mask " + hex(members) + " names lanes that never come; " + hex(first->mask) + " wait";
  } else if (at_mbarrier) {
    f.where = describe_mbarrier_wait(b, *first_warp, *first);
  } else {
    f.where = crossed ? "threads of the block wait for one another at different barriers"
                      : "some threads of the block never come to this barrier: they wait elsewhere";
  }
  f.detail = "Nothing in the block can go on. Waiting:" + list;
  report(b, std::move(f));
}

}  // namespace lockstep::engine
