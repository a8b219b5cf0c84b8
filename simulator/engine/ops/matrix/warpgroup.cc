// wgmma: multiplications that four warps issue together and wait for (PTX ISA 9.7.15).
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/matrix/registers.h"
#include "simulator/engine/ops/matrix/shared_matrix.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/warpgroup_state.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/matrix/unit.h"

namespace lockstep::engine {
namespace {

using program::Matrix;
using program::MatrixRegisters;

constexpr std::uint32_t kWarps = 4;  // of a warpgroup
constexpr std::size_t kRegister = 4 * kWarpSize;

WarpgroupWarp& state_of(const Warp& w) {
  Block& b = *w.block;
  if (!b.warpgroups) b.warpgroups = std::make_unique<WarpgroupState>();
  return b.warpgroups->warps[w.index];
}

std::uint64_t digest(const std::byte* values) {
  std::uint64_t h = 0x9e3779b97f4a7c15;
  for (std::size_t at = 0; at < kRegister; at += 8) {
    std::uint64_t v;
    std::memcpy(&v, values + at, 8);
    h = (h ^ v) * 0xff51afd7ed558ccd;
    h ^= h >> 32;
  }
  return h;
}

bool refuse(Warp& w, check::Kind kind, std::string where, std::string detail) {
  if (!w.block->launch->check_synchronisation || already_reported(w, kind, w.pc - 1)) return true;
  check::Finding f = finding_at(w, w.pc - 1, kAllLanes, kind);
  f.where = std::move(where);
  f.detail = std::move(detail);
  if (is_known_in_library(*w.block->launch, f)) {
    if (!known_before(w, kind, w.pc - 1, ReportedSite::As::kKnown)) {
      first_time(w, kind, w.pc - 1, ReportedSite::As::kKnown);
      report(w, std::move(f));
    }
    return true;
  }
  first_time(w, kind, w.pc - 1);
  return !report_unless_suppressed(w, std::move(f));
}

constexpr const char *kMultiply = "wgmma.mma_async", *kChange = "setmaxnreg";

std::string all_four(const char* name) {
  return std::string("The four warps of a warpgroup must execute the same ") + name +
         " in the same order.";
}

bool refuse_lanes(Warp& w, int lane, const char* what) {
  return refuse(
      w, check::Kind::kInvalidInstruction,
      std::string(what) + " of lane " + std::to_string(lane) + " differs from that of lane 0",
      "All lanes of a warp must execute wgmma.mma_async with the same descriptors and the same "
      "predicate for the accumulator.");
}

// Whether the warp's instruction and the one at `pc` are setmaxnreg with the same direction and
// count.
bool is_same_change(Warp& w, std::uint32_t pc) {
  const Program& p = *w.block->program;
  const Op &mine = p.ops[w.pc - 1], &other = p.ops[pc];
  return mine.action == program::Action::kWarpgroupRegisters && other.action == mine.action &&
         site_of(p, pc).instruction == site_of(p, w.pc - 1).instruction &&
         source<std::uint32_t>(w, mine.src[0])[0] == source<std::uint32_t>(w, other.src[0])[0];
}

// Whether all four warps execute the same operations in the same order. `sequences`: the operations
// of each warpgroup; `done`: how many of them this warp has executed.
bool in_step(Warp& w, std::vector<std::uint32_t> (&sequences)[8], std::uint32_t done,
             const char* what, const char* name) {
  Block& b = *w.block;
  if (w.index / kWarps * kWarps + kWarps > b.launch->warps) {
    return refuse(w, check::Kind::kInvalidInstruction,
                  "warp " + std::to_string(w.index) + " is not one of four: the block has " +
                      std::to_string(b.launch->warps) + " warps",
                  "A warpgroup is four warps, the first of them a multiple of four.");
  }
  std::vector<std::uint32_t>& sequence = sequences[w.index / kWarps];
  if (done == sequence.size()) {
    sequence.push_back(w.pc - 1);
    for (std::uint32_t other = w.index / kWarps * kWarps;
         other < w.index / kWarps * kWarps + kWarps; ++other) {
      if (living(b.warps[other]) != 0) continue;
      const WarpgroupWarp& left = b.warpgroups->warps[other];
      const std::uint32_t executed =
          &sequences == &b.warpgroups->multiplications ? left.issued : left.register_changes;
      return refuse(w, check::Kind::kBarrierDivergence,
                    "warp " + std::to_string(other) + " of its warpgroup has exited after " +
                        std::to_string(executed) + " " + what + "s",
                    all_four(name));
    }
    return true;
  }
  if (sequence[done] == w.pc - 1) return true;
  const check::Site other = site_of(*b.program, sequence[done]);
  return refuse(w, check::Kind::kBarrierDivergence,
                "another warp of its warpgroup executes " + other.to_string() + " as " + what +
                    " " + std::to_string(done + 1) +
                    (is_same_change(w, sequence[done]) ? ", with the same count" : ""),
                all_four(name));
}

// All lanes of a warp must have the same operands. The descriptor of lane 0 is used.
bool uniform(Warp& w, Slot descriptor, const char* what) {
  if (descriptor == kNoSlot || is_constant(descriptor)) return true;
  const auto* values = source<std::uint64_t>(w, descriptor);
  const auto other =
      std::find_if(values, values + kWarpSize, [&](std::uint64_t v) { return v != values[0]; });
  return other == values + kWarpSize || refuse_lanes(w, static_cast<int>(other - values), what);
}

// A digest of the result of a multiplication with `n` columns. Multiplications of another shape
// need a fence before they use it.
std::uint64_t digest_of_result(const std::byte* values, int n) {
  return digest(values) ^ static_cast<std::uint64_t>(n) << 1;
}

// Whether only multiplications of this shape have written these registers since the last fence:
// their values were there at the fence, or are results.
bool fenced(Warp& w, const WarpgroupWarp& state, const MatrixRegisters& m, int n,
            const char* what) {
  if (!w.block->launch->check_synchronisation) return true;
  const Slot* slots = w.block->program->slots.data() + m.first;
  for (int r = 0; r < m.registers; ++r) {
    if (slots[r] == kNoSlot || is_constant(slots[r])) continue;
    const auto* const values = source<std::byte>(w, slots[r]);
    if (state.ordered.contains(digest(values)) ||
        state.ordered.contains(digest_of_result(values, n)))
      continue;
    return refuse(w, check::Kind::kAsyncOrder,
                  std::string("register ") + std::to_string(r + 1) + " of " + what +
                      " was written after the last wgmma.fence",
                  "wgmma.fence must stand between ordinary accesses to the registers of a "
                  "multiplication, or multiplications of another shape, and the multiplication.");
  }
  return true;
}

// The result is undefined until it is waited for.
void mark_pending(Warp& w, const Matrix& m, const PendingMultiplication& p) {
  begin_tracking(w);
  const std::uint32_t mark = p.number << kOriginBits | p.pc;
  for (int r = 0; r < m.d.registers; ++r) {
    const Slot slot = w.block->program->slots[m.d.first + static_cast<std::uint32_t>(r)];
    if (slot != kNoSlot)
      mark_register(w, slot, kAllLanes, kAllLanes, mark, check::Kind::kAsyncOrder);
  }
}

// Whether the shared memory that a multiplication of `issuer` has read is unchanged: it may have
// read it at any time until now, when `w` waits for it.
bool check_read_kept(Warp& w, const Warp& issuer, const PendingMultiplication& p) {
  Block& b = *w.block;
  if (!b.launch->check_races) return true;
  for (const MatrixBytes& m : p.read) {
    const std::byte* now = b.shared.bytes.get() + m.offset;
    if (std::memcmp(now, m.bytes, sizeof m.bytes) == 0) continue;
    std::uint32_t at = 0;
    while (now[at] == m.bytes[at]) ++at;
    check::Finding f = finding_at(issuer, p.pc, 1, check::Kind::kRace);
    f.space = "shared";
    f.access.address = m.offset + at;
    f.access.size = 1;
    f.where = "its operand has been overwritten before the multiplication was waited for";
    f.other = last_write_to_shared(w, *w.block, m.offset + at);
    f.detail = "wgmma.wait_group says when shared memory may be used again.";
    if (report_unless_suppressed(w, std::move(f))) return false;
    break;
  }
  return true;
}

// Records its reads again at this moment: a later write must be ordered after them, because the
// multiplication may have read its operands at any time until now.
bool read_until_now(Warp& w, const PendingMultiplication& p) {
  if (!w.block->launch->check_races) return true;
  Request r;
  r.op = &w.block->program->ops[p.pc];
  r.pc = p.pc;
  r.size = sizeof MatrixBytes::bytes;
  r.reads = true;
  for (std::size_t first = 0; first < p.read.size(); first += kWarpSize) {
    // The lanes are those of the issue, as far as possible: a read that a thread repeats at one
    // time changes nothing.
    LaneMask lanes = 0;
    for (std::size_t i = first; i < std::min<std::size_t>(p.read.size(), first + kWarpSize); ++i) {
      const std::size_t lane = i - first;
      r.address[lane] = p.read[i].offset;
      lanes |= LaneMask{1} << lane;
    }
    if (!resolve(w, r, isa::Space::kShared, lanes)) return false;
  }
  return true;
}

void negate(std::uint64_t* v, std::size_t count, isa::Type type) {
  const std::uint64_t sign = std::uint64_t{1} << (isa::bits_of(type) - 1);
  for (std::size_t i = 0; i < count; ++i) v[i] ^= sign;
}

}  // namespace

void run_warpgroup_fence(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  WarpgroupWarp& state = state_of(w);
  state.fenced = true;
  state.ordered.clear();
  if (!w.block->launch->check_synchronisation) return;
  const Frame& frame = w.control->frames[w.control->frame];
  const std::size_t bytes = w.block->program->functions[frame.function].file_bytes;
  // Registers of 32 bits may start at any cache line.
  for (std::size_t at = 0; at + kRegister <= bytes; at += kRegister / 2)
    state.ordered.insert(digest(w.file[0] + at));
}

void run_warpgroup_multiply(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const Matrix& m = w.block->program->matrices[static_cast<std::size_t>(op.immediate)];
  const Matrix::Descriptors& d = m.descriptors;
  WarpgroupWarp& state = state_of(w);
  if (!in_step(w, w.block->warpgroups->multiplications, state.issued, "multiplication", kMultiply))
    return;
  if (!uniform(w, d.a, "the descriptor of A") || !uniform(w, d.b, "the descriptor of B")) return;
  const LaneMask accumulates = predicate(w, d.accumulates);
  if (accumulates != 0 && accumulates != kAllLanes &&
      !refuse_lanes(w, std::countr_zero((accumulates & 1) != 0 ? ~accumulates : accumulates),
                    "the predicate for the accumulator"))
    return;
  if (!state.fenced) {
    if (!refuse(w, check::Kind::kAsyncOrder, "no wgmma.fence came before the first multiplication",
                "wgmma.fence must stand before the first wgmma.mma_async of a kernel."))
      return;
    state.fenced = true;
  } else {
    if (d.a == kNoSlot && !fenced(w, state, m.a, m.operation.shape.n, "A")) return;
    if (accumulates != 0 && !fenced(w, state, m.c, m.operation.shape.n, "the accumulator")) return;
  }
  const isa::Shape& s = m.operation.shape;
  const std::size_t stored = m.operation.sparse ? s.k / 2 : s.k;
  PendingMultiplication p;
  p.pc = w.pc - 1;
  p.number = state.issued & 0xfff;
  p.index = state.issued;
  std::vector<std::uint64_t> a(s.m * stored), b(std::size_t{s.n} * s.k), c(std::size_t{s.m} * s.n),
      result(c.size());
  std::vector<std::uint8_t> columns(m.operation.sparse ? a.size() : 0);
  const auto chunks = [](std::size_t elements, isa::Type type) {
    return elements * static_cast<std::size_t>(isa::bits_of(type)) / (8 * kChunkBytes);
  };
  p.read.reserve((d.a == kNoSlot ? 0 : chunks(4 * a.size(), m.operation.a)) +
                 chunks(b.size(), m.operation.b));
  if (d.a == kNoSlot) {
    gather(w, m.a, a.data());
  } else {
    Descriptor from = descriptor_of(source<std::uint64_t>(w, d.a)[0]);
    // The warp's 16 of the 64 rows.
    const auto block = 2 * (w.index % kWarps);
    std::vector<std::uint64_t> whole(4 * a.size());
    if (!read_matrix(w, op, from, 4 * s.m, static_cast<int>(stored), isa::bits_of(m.operation.a),
                     d.a_across, whole.data(), p.read))
      return;
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(8 * block * stored), a.size(),
                a.begin());
  }
  if (!read_matrix(w, op, descriptor_of(source<std::uint64_t>(w, d.b)[0]), s.n, s.k,
                   isa::bits_of(m.operation.b), d.b_across, b.data(), p.read))
    return;
  accessed_as_one(w);
  if (accumulates != 0) gather(w, m.c, c.data());
  if (m.operation.sparse) columns_of(w, m, columns.data());
  if (d.a_negated) negate(a.data(), a.size(), m.operation.a);
  if (d.b_negated) negate(b.data(), b.size(), m.operation.b);
  matrix::Operation operation = m.operation;
  operation.compute_capability = w.block->launch->config->compute_capability;
  matrix::multiply(operation, a.data(), b.data(), c.data(), columns.data(), result.data());
  scatter(w, m.d, result.data(), mask);
  ++state.issued;
  if (w.block->launch->check_synchronisation) {
    for (int r = 0; r < m.d.registers; ++r) {
      const Slot slot = w.block->program->slots[m.d.first + static_cast<std::uint32_t>(r)];
      if (slot != kNoSlot) state.ordered.insert(digest_of_result(source<std::byte>(w, slot), s.n));
    }
    mark_pending(w, m, p);
  }
  state.pending.push_back(std::move(p));
}

// PTX registers are not SASS registers here: the number for each thread has no effect.
void run_warpgroup_registers(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  WarpgroupWarp& state = state_of(w);
  if (in_step(w, w.block->warpgroups->register_changes, state.register_changes, "change", kChange))
    ++state.register_changes;
}

namespace {

// Call when a warp exits that has executed `done` of its warpgroup's operations. Returns false if a
// finding ends the launch.
bool check_whole_at_exit(Warp& w, const std::vector<std::uint32_t>& sequence, std::uint32_t done,
                         const char* what, const char* name) {
  if (done >= sequence.size()) return true;
  const std::uint32_t pc = sequence[done];
  if (already_reported(w, check::Kind::kBarrierDivergence, pc)) return true;
  first_time(w, check::Kind::kBarrierDivergence, pc);
  check::Finding f = finding_at(w, pc, kAllLanes, check::Kind::kBarrierDivergence);
  f.where = "it exits after " + std::to_string(done) + " " + what +
            "s; another warp of its warpgroup has executed this one, too";
  f.detail = all_four(name);
  return !report_unless_suppressed(w, std::move(f));
}

}  // namespace

void check_warpgroup_at_exit(Warp& w) {
  Block& b = *w.block;
  if (!b.warpgroups) return;
  const WarpgroupWarp& state = b.warpgroups->warps[w.index];
  for (const PendingMultiplication& p : state.pending) {
    if (!p.done && !check_read_kept(w, w, p)) return;
  }
  if (!b.launch->check_synchronisation) return;
  if (check_whole_at_exit(w, b.warpgroups->multiplications[w.index / kWarps], state.issued,
                          "multiplication", kMultiply))
    check_whole_at_exit(w, b.warpgroups->register_changes[w.index / kWarps], state.register_changes,
                        "change", kChange);
}

void run_warpgroup_commit(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  WarpgroupWarp& state = state_of(w);
  for (PendingMultiplication& p : state.pending) {
    if (p.group == ~0u) p.group = state.groups;
  }
  ++state.groups;
}

namespace {

// The other warps of the warpgroup, which may have exited.
template <class Visit>
void each_other_warp(Warp& w, Visit visit) {
  Block& b = *w.block;
  const std::uint32_t first = w.index / kWarps * kWarps;
  for (std::uint32_t v = first; v < std::min<std::uint32_t>(first + kWarps, b.launch->warps); ++v) {
    if (v != w.index) visit(b.warps[v]);
  }
}

// The reads of the first `count` multiplications of `issuer` end now.
bool end_reads(Warp& w, Warp& issuer, std::uint32_t count) {
  for (PendingMultiplication& p : state_of(issuer).pending) {
    if (p.done || p.index >= count) continue;
    if (!check_read_kept(w, issuer, p)) return false;
    if (!read_until_now(issuer, p)) {
      w.event = Event::kAbort;
      return false;
    }
    p.done = true;
  }
  return true;
}

}  // namespace

// A multiplication is one operation of the whole warpgroup (9.7.15.1). When it is complete for one
// warp, the operands of all four have been read, and any thread of the warpgroup may signal that to
// others. So a warp waits until the other three have issued it, too.
void run_warpgroup_wait(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  WarpgroupWarp& state = state_of(w);
  const std::uint64_t left = source<std::uint32_t>(w, op.src[0])[0];
  const auto is_complete = [&](const PendingMultiplication& p) {
    return p.group != ~0u && p.group + left < state.groups;
  };
  std::uint32_t count = 0;
  for (const PendingMultiplication& p : state.pending) {
    if (is_complete(p)) count = std::max(count, p.index + 1);
  }
  bool issued = true;
  each_other_warp(w, [&](const Warp& v) {
    issued = issued && (living(v) == 0 || state_of(v).issued >= count);
  });
  if (!issued) {
    --w.pc;
    w.control->should_yield = true;
    w.event = Event::kReschedule;
    return;
  }
  bool good = end_reads(w, w, count);
  each_other_warp(w, [&](Warp& v) { good = good && end_reads(w, v, count); });
  if (!good) return;
  std::vector<std::uint32_t> done;
  for (const PendingMultiplication& p : state.pending) {
    if (is_complete(p)) done.push_back(p.number << kOriginBits | p.pc);
  }
  std::erase_if(state.pending, is_complete);
  accessed_as_one(w);
  if (count != 0 && w.block->launch->check_races) {
    each_other_warp(w, [&](const Warp& v) { w.block->races.accessed_as_group(w.index, v.index); });
  }
  forget_order_marks(w, done);
}

}  // namespace lockstep::engine
