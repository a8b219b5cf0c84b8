#include "simulator/engine/ops/sync/collectives.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// Lanes of one split that take part in an exchange, with the operation and the file of that split.
struct Part {
  const Op* op = nullptr;
  std::byte* file = nullptr;
  std::int32_t frame = 0;
  LaneMask lanes = 0;
  std::uint32_t pc = 0;
};

template <class T>
const T* operand(const Warp& w, const Part& part, Slot slot) {
  return reinterpret_cast<const T*>((is_constant(slot) ? w.file[1] : part.file) +
                                    (slot & ~Slot{1}));
}
template <class T>
T* result(const Part& part, Slot slot) {
  return reinterpret_cast<T*>(part.file + slot);
}
LaneMask mask_operand(const Warp& w, const Part& part, Slot slot) {
  return *operand<LaneMask>(w, part, slot);
}
void write_mask(const Part& part, Slot slot, LaneMask value) {
  if (slot == kNoSlot) return;
  LaneMask* p = result<LaneMask>(part, slot);
  *p = (*p & ~part.lanes) | (value & part.lanes);
}

// Of a whole warp, as loops over vectors: `d` gets the values; returns the lanes whose source is in
// range.
template <SyncKind kKind>
LaneMask shuffle_whole(const std::uint32_t* a, const std::uint32_t* bs, const std::uint32_t* cs,
                       std::uint32_t* d) {
  std::uint32_t value[kWarpSize], from[kWarpSize], in_range[kWarpSize];
  std::memcpy(value, a, sizeof value);
  for (int l = 0; l < kWarpSize; ++l) {
    const int b = static_cast<int>(bs[l] & 31), clamp = static_cast<int>(cs[l] & 31),
              segment = static_cast<int>(cs[l] >> 8 & 31);
    const int max_lane = (l & segment) | (clamp & ~segment);
    const int j = kKind == SyncKind::kShflUp     ? l - b
                  : kKind == SyncKind::kShflDown ? l + b
                  : kKind == SyncKind::kShflBfly ? l ^ b
                                                 : (l & segment) | (b & ~segment);
    const bool p = kKind == SyncKind::kShflUp ? j >= max_lane : j <= max_lane;
    from[l] = static_cast<std::uint32_t>(p ? j : l);
    in_range[l] = p ? 1u << l : 0;
  }
  LaneMask all = 0;
  for (int l = 0; l < kWarpSize; ++l) all |= in_range[l];
  for (int l = 0; l < kWarpSize; ++l) d[l] = value[from[l]];
  return all;
}
LaneMask shuffle_whole(SyncKind kind, const std::uint32_t* a, const std::uint32_t* bs,
                       const std::uint32_t* cs, std::uint32_t* d) {
  switch (kind) {
    case SyncKind::kShflUp: return shuffle_whole<SyncKind::kShflUp>(a, bs, cs, d);
    case SyncKind::kShflDown: return shuffle_whole<SyncKind::kShflDown>(a, bs, cs, d);
    case SyncKind::kShflBfly: return shuffle_whole<SyncKind::kShflBfly>(a, bs, cs, d);
    default: return shuffle_whole<SyncKind::kShflIdx>(a, bs, cs, d);
  }
}

void shuffle(Warp& w, SyncKind kind, const Part* parts, int n, LaneMask lanes) {
  const bool tracking = w.control->tracking;
  if (n == 1 && lanes == kAllLanes && !tracking) {
    const Part& part = parts[0];
    const auto at = [&](int i) { return operand<std::uint32_t>(w, part, part.op->src[i]); };
    const LaneMask in_range =
        shuffle_whole(kind, at(0), at(1), at(2), result<std::uint32_t>(part, part.op->dst));
    return write_mask(part, part.op->dst2, in_range);
  }
  std::uint32_t value[kWarpSize] = {};
  LaneMask invalid = 0, derived = 0;
  std::uint64_t bits[kWarpSize];  // of invalid lanes: the unwritten bits
  std::uint32_t invalid_pc = 0;
  check::Kind invalid_kind = check::Kind::kUninitialised;
  for (int i = 0; i < n; ++i) {
    const auto* a = operand<std::uint32_t>(w, parts[i], parts[i].op->src[0]);
    each(parts[i].lanes, [&](int l) { value[l] = a[l]; });
    if (tracking && !is_constant(parts[i].op->src[0])) {
      Frame& frame = w.control->frames[parts[i].frame];
      if (const Validity::Word* word = validity_word(frame, parts[i].op->src[0])) {
        const LaneMask bad = word->invalid & parts[i].lanes;
        invalid |= bad;
        derived |= word->derived & bad;
        each(bad, [&](int l) { bits[l] = frame.validity->unwritten_bits(*word, l); });
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
    std::uint64_t carried_bits[kWarpSize];
    each(part.lanes, [&](int l) {
      const int b = static_cast<int>(bs[l] & 31), clamp = static_cast<int>(cs[l] & 31),
                segment = static_cast<int>(cs[l] >> 8 & 31);
      const int max_lane = (l & segment) | (clamp & ~segment);
      const int min_lane = l & segment;
      int j = l;
      bool p = false;
      switch (kind) {
        case SyncKind::kShflUp:
          j = l - b;
          p = j >= max_lane;
          break;
        case SyncKind::kShflDown:
          j = l + b;
          p = j <= max_lane;
          break;
        case SyncKind::kShflBfly:
          j = l ^ b;
          p = j <= max_lane;
          break;
        default:
          j = min_lane | (b & ~segment);
          p = j <= max_lane;
          break;
      }
      if (!p) j = l;
      if (p) in_range |= 1u << l;
      if (!(lanes >> j & 1)) inactive |= 1u << l;
      if (invalid >> j & 1) carried_bits[l] = bits[j];
      if (invalid >> j & 1) carried |= 1u << l, carried_derived |= (derived >> j & 1) << l;
      d[l] = value[j];
    });
    write_mask(part, part.op->dst2, in_range);
    w.control->frame = part.frame;  // for mark_register below
    if (tracking || (inactive && w.block->launch->check_synchronisation)) {
      if (!tracking) begin_tracking(w);
      if (carried) {
        mark_register(w, part.op->dst, carried, part.lanes, invalid_pc, invalid_kind, nullptr,
                      carried_bits);
        if (Validity::Word* word = validity_word(w.control->frames[part.frame], part.op->dst))
          word->derived |= carried_derived;
      } else {
        mark_register(w, part.op->dst, 0, part.lanes, part.pc);
      }
      if (part.op->dst2 != kNoSlot) mark_register(w, part.op->dst2, 0, part.lanes, part.pc);
      // The value of a lane that does not take part is undefined. It is reported if it is used.
      if (inactive)
        mark_register(w, part.op->dst, inactive, 0, part.pc, check::Kind::kInactiveLane);
    }
  }
}

void vote(Warp& w, SyncKind kind, const Part* parts, int n, LaneMask lanes) {
  LaneMask yes = 0;
  for (int i = 0; i < n; ++i)
    yes |= mask_operand(w, parts[i], parts[i].op->src[0]) & parts[i].lanes;
  for (int i = 0; i < n; ++i) {
    const Part& part = parts[i];
    switch (kind) {
      case SyncKind::kVoteAll: write_mask(part, part.op->dst, yes == lanes ? kAllLanes : 0); break;
      case SyncKind::kVoteAny: write_mask(part, part.op->dst, yes ? kAllLanes : 0); break;
      case SyncKind::kVoteUni:
        write_mask(part, part.op->dst, yes == lanes || yes == 0 ? kAllLanes : 0);
        break;
      default: {
        std::uint32_t* d = result<std::uint32_t>(part, part.op->dst);
        each(part.lanes, [&](int l) { d[l] = yes; });
      }
    }
  }
}

// The lanes whose values are `v`.
template <class T>
LaneMask equal_to(T v, const T* values) {
  LaneMask lanes = 0;
  for (int l = 0; l < kWarpSize; ++l) lanes |= LaneMask{values[l] == v} << l;
  return lanes;
}

void match(Warp& w, SyncKind kind, const Part* parts, int n, LaneMask lanes) {
  std::uint64_t value[kWarpSize] = {};
  for (int i = 0; i < n; ++i) {
    const Slot a = parts[i].op->src[0];
    each(parts[i].lanes, [&](int l) {
      value[l] = parts[i].op->width == 8 ? operand<std::uint64_t>(w, parts[i], a)[l]
                                         : operand<std::uint32_t>(w, parts[i], a)[l];
    });
  }
  LaneMask same[kWarpSize] = {};
  for (LaneMask todo = lanes; todo != 0;) {
    const LaneMask group = lanes & equal_to(value[std::countr_zero(todo)], value);
    each(group, [&](int l) { same[l] = group; });
    todo &= ~group;
  }
  for (int i = 0; i < n; ++i) {
    const Part& part = parts[i];
    std::uint32_t* d =
        part.op->dst == kNoSlot ? nullptr : result<std::uint32_t>(part, part.op->dst);
    const bool all = same[std::countr_zero(lanes)] == lanes;
    each(part.lanes, [&](int l) {
      if (d) d[l] = kind == SyncKind::kMatchAny ? same[l] : all ? lanes : 0;
    });
    if (kind == SyncKind::kMatchAll) write_mask(part, part.op->dst2, all ? kAllLanes : 0);
  }
}

// Numbers win against NaNs, unless `wants_nan`; minus zero is below plus zero.
std::uint32_t float_extreme(bool smaller, bool wants_nan, std::uint32_t a, std::uint32_t b) {
  const auto is_nan = [](std::uint32_t v) { return (v & 0x7fffffffu) > 0x7f800000u; };
  if (is_nan(a) || is_nan(b))
    return wants_nan || (is_nan(a) && is_nan(b)) ? 0x7fffffffu : is_nan(a) ? b : a;
  // Maps sign and magnitude to two's complement.
  const auto ordered = [](std::uint32_t v) {
    return static_cast<std::int32_t>(v >> 31 ? ~(v & 0x7fffffffu) : v);
  };
  return (ordered(a) < ordered(b)) == smaller ? a : b;
}

void reduce(Warp& w, SyncKind kind, const Part* parts, int n) {
  const bool abs = (parts[0].op->immediate & kReduxAbs) != 0,
             wants_nan = (parts[0].op->immediate & kReduxNaN) != 0;
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

// Executes an exchange among `lanes`, which have all arrived.
void perform(Warp& w, const Part* parts, int n, LaneMask lanes) {
  const auto kind = parts[0].op->as<program::SyncFields>().kind();
  Counters& counters = w.block->worker->counters;
  const std::int32_t frame = w.control->frame;
  switch (kind) {
    case SyncKind::kShflUp:
    case SyncKind::kShflDown:
    case SyncKind::kShflBfly:
    case SyncKind::kShflIdx:
      ++counters.shuffles;
      shuffle(w, kind, parts, n, lanes);
      break;
    case SyncKind::kVoteAll:
    case SyncKind::kVoteAny:
    case SyncKind::kVoteUni:
    case SyncKind::kVoteBallot:
      ++counters.votes;
      vote(w, kind, parts, n, lanes);
      break;
    case SyncKind::kMatchAny:
    case SyncKind::kMatchAll:
      ++counters.votes;
      match(w, kind, parts, n, lanes);
      break;
    case SyncKind::kElect: {
      // PTX requires only that the same mask always elects the same lane. GPUs elect the lowest
      // lane, and CUTLASS relies on it: its leader, lane 0, counts bytes that the elected lane
      // copies.
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
      if (w.block->launch->check_races) w.block->races.warp_sync(w.index, lanes, lanes == w.exists);
      break;
    default: reduce(w, kind, parts, n);
  }
  w.control->frame = frame;
}

// Whether lanes that arrived separately can execute an operation of the whole warp together: they
// must be in the same call of its function.
bool gather(Warp& w, const Part* parts, int n) {
  for (int k = 1; k < n; ++k) {
    if (parts[k].frame == parts[0].frame) continue;
    check::Finding f = finding_at(w, parts[k].pc, parts[k].lanes, check::Kind::kInvalidInstruction);
    f.where = "lane " + std::to_string(std::countr_zero(parts[0].lanes)) +
              " of the warp is in another call of this function";
    f.detail = "All lanes of a warp must execute it together.";
    report(w, std::move(f));
    return false;
  }
  return true;
}

// The masks of lanes: the first, where others differ from it, and the lanes that do not name
// themselves.
struct Members {
  LaneMask first = 0, differ = 0, outside = 0;
};
Members members_of(const Op& op, const std::uint32_t* members, LaneMask mask) {
  Members m{members[std::countr_zero(mask)]};
  if (is_constant(op.src[3])) {
    m.outside = mask & ~m.first;
    return m;
  }
  each(mask, [&](int l) {
    m.differ |= members[l] ^ m.first;
    m.outside |= LaneMask{!(members[l] >> l & 1)} << l;
  });
  return m;
}

bool check_membership(Warp& w, LaneMask outside, const std::uint32_t* members) {
  if (outside == 0) return true;
  if (!w.block->launch->check_synchronisation ||
      already_reported(w, check::Kind::kInvalidMask, w.pc - 1, std::popcount(outside)))
    return true;
  first_time(w, check::Kind::kInvalidMask, w.pc - 1);
  check::Finding f = finding_at(w, w.pc - 1, outside, check::Kind::kInvalidMask);
  f.where = "the mask " + hexadecimal(members[std::countr_zero(outside)]) + " leaves out lane " +
            std::to_string(std::countr_zero(outside)) + ", which executes it";
  f.detail = "A thread that executes a *.sync operation must be named in its mask.";
  return !report_unless_suppressed(w, std::move(f));
}

// Several groups of lanes exchange at once, each with a mask of its own that names all of it.
// False: some group waits for others, and nothing is done.
bool perform_groups(Warp& w, const Op& op, const std::uint32_t* members, LaneMask mask) {
  const LaneMask alive = living(w);
  LaneMask groups[kWarpSize];
  int n = 0;
  for (LaneMask todo = mask; todo != 0; todo &= ~groups[n++]) {
    const std::uint32_t named = members[std::countr_zero(todo)];
    groups[n] = mask & equal_to(named, members);
    if ((named & alive) != groups[n]) return false;
  }
  for (int i = 0; i < n; ++i) {
    const Part part{&op, w.file[0], w.control->frame, groups[i], w.pc - 1};
    perform(w, &part, 1, groups[i]);
  }
  return true;
}

}  // namespace

void run_sync(Warp& w, const Op& op, LaneMask mask) {
  const auto* members = source<std::uint32_t>(w, op.src[3]);
  const auto [first, differ, outside] = members_of(op, members, mask);
  if (!check_membership(w, outside, members)) return;
  // The common case: one mask, and all of its live lanes are here.
  if (differ == 0 && (first & living(w)) == (mask & first)) {
    const Part part{&op, w.file[0], w.control->frame, mask, w.pc - 1};
    perform(w, &part, 1, mask);
    return;
  }
  // With a seed, the groups may go on one by one.
  if (differ != 0 && w.block->launch->config->schedule_seed == 0 &&
      perform_groups(w, op, members, mask))
    return;
  park(w, mask, WarpSplit::State::kAtSync);
  complete_syncs(w);
}

void run_activemask(Warp& w, const Op& op, LaneMask mask) {
  // Under a seed, the result differs from the lanes that execute the next operation about every
  // second time.
  constexpr std::uint32_t kChances = 2;
  let_lanes_part(w, w.pc - 1, kChances);
  mask &= w.active;
  std::uint32_t* d = destination<std::uint32_t>(w, op.dst);
  each(mask, [&](int l) { d[l] = mask; });
}

bool complete_syncs(Warp& w) {
  auto& list = w.control->splits;
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    const Op* ops = w.block->program->ops.data();
    for (std::size_t i = 0; i < list.size() && !again; ++i) {
      if (list[i].state != WarpSplit::State::kAtSync) continue;
      const Op& op = ops[list[i].pc];
      const auto mask_of = [&](const WarpSplit& f, int lane) {
        return parked_operand<LaneMask>(w, f, ops[f.pc].src[3])[lane];
      };
      LaneMask todo = list[i].mask;
      while (todo != 0 && !again) {
        const std::uint32_t members = mask_of(list[i], std::countr_zero(todo));
        Part parts[kWarpSize];
        std::size_t where[kWarpSize];
        int n = 0;
        LaneMask here = 0;
        for (std::size_t j = 0; j < list.size(); ++j) {
          const WarpSplit& f = list[j];
          const Op& other = ops[f.pc];
          if (f.state != WarpSplit::State::kAtSync || !program::SyncFields::fits(other.action) ||
              other.as<program::SyncFields>().kind() != op.as<program::SyncFields>().kind() ||
              other.immediate != op.immediate || other.width != op.width) {
            continue;
          }
          LaneMask lanes = 0;
          each(f.mask, [&](int l) { lanes |= LaneMask{mask_of(f, l) == members} << l; });
          if (lanes == 0) continue;
          where[n] = j;
          parts[n++] = {&other, w.control->frames[f.frame].file, f.frame, lanes, f.pc};
          here |= lanes;
        }
        todo &= ~here;
        if (((members & living(w)) & ~here) != 0) continue;
        if (op.as<program::SyncFields>().kind() == SyncKind::kWholeWarp) {
          if (!gather(w, parts, n)) return true;
          for (int k = 0; k < n; ++k) list[where[k]].mask &= ~parts[k].lanes;
          list.push_back({parts[0].pc, here, parts[0].frame, WarpSplit::State::kRunnable, false});
        } else {
          perform(w, parts, n, here);
          for (int k = 0; k < n; ++k) {
            WarpSplit& f = list[where[k]];
            const WarpSplit released{f.pc + 1, parts[k].lanes, f.frame, WarpSplit::State::kRunnable,
                                     false};
            f.mask &= ~parts[k].lanes;
            list.push_back(released);
          }
        }
        std::erase_if(list, [](const WarpSplit& f) { return f.mask == 0; });
        again = any = true;
      }
    }
  }
  return any;
}

}  // namespace lockstep::engine
