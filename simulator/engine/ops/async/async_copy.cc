#include "simulator/engine/ops/async/async_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

using isa::Space;

Op side(const Op& op, Space space) {
  Op s = op;
  s.space = static_cast<std::uint8_t>(space);
  s.as<MemoryFields>().set(0);
  s.elements = 2;  // disables the comparison of values in a race
  return s;
}

bool report_misaligned_copy(Warp& w, std::uint32_t pc, LaneMask lanes, std::uint64_t address,
                            std::uint32_t size) {
  check::Finding f = finding_at(w, pc, lanes, check::Kind::kMisaligned);
  f.access.address = address;
  f.access.size = size;
  f.where = "the address is no multiple of " + std::to_string(size);
  report(w, std::move(f));
  return false;
}

std::uint16_t unwritten_bytes(Warp& w, const Request& whole, Space space, int lane,
                              std::uint64_t address, std::uint32_t size) {
  std::uint16_t bits = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    Request r;
    r.op = whole.op;
    r.pc = whole.pc;
    r.size = 1;
    r.reads = true;
    r.address[lane] = address + i;
    if (!resolve(w, r, space, 1u << lane)) return 0;
    if (r.unwritten != 0) bits |= static_cast<std::uint16_t>(1u << i);
  }
  return bits;
}

namespace {

constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};  // for a lane that copies nothing

// Whether another thread has copied the same bytes to the place of `lane`: by this instruction (if
// its lanes before have been recorded), by an unfinished copy, or in memory.
bool brings_the_same(Warp& w, const Request& r, int lane, std::uint32_t other, std::uint32_t pc) {
  const auto bytes_of = [&](int l) {
    return r.value + static_cast<std::uint32_t>(l) * r.value_stride;
  };
  const std::uint64_t at = r.address[lane] & kOffsetMask;
  const int other_lane = static_cast<int>(other % kWarpSize);
  if (other / kWarpSize == w.index && pc == r.pc && other_lane < lane &&
      r.address[other_lane] == r.address[lane])
    return std::memcmp(bytes_of(other_lane), bytes_of(lane), r.size) == 0;
  bool under_way = false, same = true;
  for (const AsyncCopy& copy : async_of(*w.block).warps[other / kWarpSize].copies) {
    const std::uint32_t place = copy.offset[other_lane];
    if ((copy.lanes >> other_lane & 1) == 0 || place + copy.size <= at || at + r.size <= place)
      continue;
    under_way = true;
    same = same && place == at && copy.size == r.size &&
           std::memcmp(copy.bytes[other_lane], bytes_of(lane), r.size) == 0;
  }
  return under_way ? same : value_is_there(w, r, lane);
}

// Reads the source of a cp.async for lanes that read `size` bytes of it.
bool read_source(Warp& w, const Op& op, const std::uint64_t* from, std::uint32_t size,
                 LaneMask lanes, AsyncCopy& copy) {
  const Op global = side(op, Space::kGlobal);
  // A source shorter than the copy is read byte by byte: it may have any length.
  const std::uint32_t step = size == op.width ? size : 1;
  for (std::uint32_t at = 0; at < size; at += step) {
    Request r;
    r.op = &global;
    r.pc = copy.pc;
    r.size = step;
    r.reads = true;
    for (int l = 0; l < kWarpSize; ++l) r.address[l] = from[l] + at;
    if (!resolve(w, r, Space::kGlobal, lanes)) return false;
    each(lanes, [&](int l) {
      load_element(copy.bytes[l] + at, r.host[l], step);
      if (r.unwritten >> l & 1) {
        copy.unwritten[l] |= step == 1 ? static_cast<std::uint16_t>(1u << at)
                                       : unwritten_bytes(w, r, Space::kGlobal, l, from[l], size);
      }
    });
    if (w.event == Event::kAbort) return false;
  }
  return true;
}

// Writes the bytes of `lanes`. From now on accesses must be ordered after this, by a thread that
// has waited.
bool arrive_copy(Warp& w, AsyncCopy& copy, LaneMask lanes) {
  Block& b = *w.block;
  const Op shared = side(*copy.op, Space::kShared);
  Request r;
  r.op = &shared;
  r.pc = copy.pc;
  r.size = copy.size;
  r.writes = true;
  r.value = copy.bytes[0];
  r.value_stride = sizeof copy.bytes[0];
  r.brings = &brings_the_same;
  for (int l = 0; l < kWarpSize; ++l)
    r.address[l] = (lanes >> l & 1) != 0 ? copy.offset[l] : kNoPlace;
  if (!resolve(w, r, Space::kShared, lanes)) return false;
  each(lanes, [&](int l) {
    std::memcpy(r.host[l], copy.bytes[l], copy.size);
    if (copy.unwritten[l] == 0 || !b.launch->check_initialisation) return;
    forget_origins(b, r.host[l], copy.size);
    for (std::uint32_t i = 0; i < copy.size; ++i) {
      if (copy.unwritten[l] >> i & 1)
        clear_written(reinterpret_cast<std::uint8_t*>(b.shared.written.get()), copy.offset[l] + i,
                      1);
    }
  });
  copy.lanes &= ~lanes;
  return true;
}

// Completes all copies of `mask`'s lanes that `due` selects, in the order in which they were
// issued.
template <class Due>
void finish_copies(Warp& w, LaneMask mask, Due due) {
  if (!w.block->async) return;
  std::vector<AsyncCopy>& copies = w.block->async->warps[w.index].copies;
  for (AsyncCopy& copy : copies) {
    LaneMask now = 0;
    each(copy.lanes & mask, [&](int l) { now |= LaneMask{due(copy, l)} << l; });
    if (now != 0 && !arrive_copy(w, copy, now)) return;
  }
  std::erase_if(copies, [](const AsyncCopy& c) { return c.lanes == 0; });
}

}  // namespace

void run_copy_async(Warp& w, const Op& op, LaneMask mask) {
  Block& b = *w.block;
  const auto mode = op.as<program::CopyAsyncFields>().mode();
  AsyncCopy copy;
  copy.op = &op;
  copy.pc = w.pc - 1;
  copy.size = op.width;
  copy.lanes = mask;
  std::memset(copy.bytes, 0, sizeof copy.bytes);
  std::fill(copy.unwritten, copy.unwritten + kWarpSize, 0);
  std::uint64_t from[kWarpSize];
  const std::uint64_t* base = source<std::uint64_t>(w, op.src[1]);
  for (int l = 0; l < kWarpSize; ++l)
    from[l] = base[l] + static_cast<std::uint64_t>(
                            std::int64_t{op.as<program::CopyAsyncFields>().source_offset()});
  std::uint32_t size[kWarpSize];
  std::fill(size, size + kWarpSize, op.width);
  if (mode == CopyMode::kSourceSize) {
    const std::uint32_t* asked = source<std::uint32_t>(w, op.src[2]);
    LaneMask larger = 0;
    each(mask, [&](int l) {
      size[l] = asked[l];
      larger |= LaneMask{asked[l] > op.width} << l;
    });
    if (larger != 0) {
      check::Finding f = finding_at(w, copy.pc, larger, check::Kind::kInvalidInstruction);
      f.where = "a source of " + std::to_string(size[std::countr_zero(larger)]) +
                " bytes for a copy of " + std::to_string(op.width);
      report(w, std::move(f));
      return;
    }
  } else if (mode == CopyMode::kIgnoreSource) {
    const LaneMask ignored = predicate(w, op.src[2]);
    each(mask & ignored, [&](int l) { size[l] = 0; });
  }
  LaneMask odd = 0;
  each(mask, [&](int l) { odd |= LaneMask{size[l] != 0 && from[l] % op.width != 0} << l; });
  if (odd != 0) {
    report_misaligned_copy(w, copy.pc, odd, from[std::countr_zero(odd)], op.width);
    return;
  }
  for (LaneMask todo = mask; todo != 0;) {
    const std::uint32_t bytes = size[std::countr_zero(todo)];
    LaneMask same = 0;
    each(todo, [&](int l) { same |= LaneMask{size[l] == bytes} << l; });
    if (bytes != 0 && !read_source(w, op, from, bytes, same, copy)) return;
    todo &= ~same;
  }
  // From here on, threads that still use the destination race with the copy.
  const Op shared = side(op, Space::kShared);
  Request to;
  to.op = &shared;
  to.pc = copy.pc;
  to.size = op.width;
  to.writes = true;
  to.value = copy.bytes[0];
  to.value_stride = sizeof copy.bytes[0];
  to.brings = &brings_the_same;
  load_addresses(w, op, to.address);
  each(~mask, [&](int l) { to.address[l] = kNoPlace; });
  if (!resolve(w, to, Space::kShared, mask)) return;
  each(mask,
       [&](int l) { copy.offset[l] = static_cast<std::uint32_t>(to.address[l]) & kOffsetMask; });
  if (!follows_copies(*b.launch)) {
    arrive_copy(w, copy, mask);
    return;
  }
  each(mask, [&](int l) { forget_written(b, copy.offset[l], copy.size); });
  async_of(b).warps[w.index].copies.push_back(copy);
}

void run_copy_commit(Warp& w, const Op&, LaneMask mask) {
  AsyncWarp& state = async_of(*w.block).warps[w.index];
  for (AsyncCopy& copy : state.copies) {
    const LaneMask now = copy.lanes & mask & ~copy.committed;
    copy.committed |= now;
    each(now, [&](int l) { copy.group[l] = state.groups[l]; });
  }
  each(mask, [&](int l) { ++state.groups[l]; });
}

void run_copy_wait(Warp& w, const Op& op, LaneMask mask) {
  if (!w.block->async) return;
  const AsyncWarp& state = w.block->async->warps[w.index];
  if (op.immediate < 0) {
    finish_copies(w, mask, [](const AsyncCopy&, int) { return true; });
    return;
  }
  const auto left = static_cast<std::uint64_t>(op.immediate);
  finish_copies(w, mask, [&](const AsyncCopy& c, int l) {
    return (c.committed >> l & 1) && c.group[l] + left < state.groups[l];
  });
}

void run_copy_arrive(Warp& w, const Op& op, LaneMask mask) {
  Block& b = *w.block;
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = 8;
  load_addresses(w, op, r.address);
  SharedPlace places[kWarpSize];
  LaneMask elsewhere = 0;
  each(mask, [&](int l) {
    elsewhere |= LaneMask{!shared_place(w, static_cast<Space>(op.space), r.address[l], places[l])}
                 << l;
  });
  if (elsewhere != 0) {
    check::Finding f = finding_at(w, r.pc, elsewhere, check::Kind::kMbarrierMisuse);
    f.where = "the address lies in no shared memory of the block, where mbarrier objects must be";
    report(w, std::move(f));
    return;
  }
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  // The thread's copies arrive with the phase. They stay hidden until a thread has waited for it.
  for (LaneMask todo = mask; todo != 0; todo &= todo - 1) {
    const int l = std::countr_zero(todo);
    Mbarrier* m = live_mbarrier(w, r.pc, l, places[l]);
    if (m == nullptr) return;
    for (AsyncCopy& copy : async_of(b).warps[w.index].copies) {
      if (!(copy.lanes >> l & 1)) continue;
      if (!arrive_copy(w, copy, 1u << l)) return;
      forget_written(b, copy.offset[l], copy.size);
      Mbarrier::Arriving a;
      a.phase = m->state->phase;
      a.delivery.issue = {copy.pc, b.cluster_rank,
                          w.index * kWarpSize + static_cast<std::uint32_t>(l)};
      a.delivery.offset = copy.offset[l];
      a.delivery.bytes.assign(copy.bytes[l], copy.bytes[l] + copy.size);
      if (copy.unwritten[l] != 0) {
        for (std::uint32_t i = 0; i < copy.size; ++i)
          a.delivery.unwritten.push_back(copy.unwritten[l] >> i & 1);
      }
      m->arriving.push_back(std::move(a));
    }
  }
  std::erase_if(async_of(b).warps[w.index].copies, [](const AsyncCopy& c) { return c.lanes == 0; });
  for (LaneMask todo = mask; todo != 0; todo &= todo - 1) {
    const int l = std::countr_zero(todo);
    Mbarrier* m = live_mbarrier(w, r.pc, l, places[l]);
    if (m == nullptr) return;
    release_to(w, 1u << l, *m);
  }
  released(w);
  // Without .noinc the pending count was incremented before, so the arrival changes nothing.
  if (!op.as<program::CopyArriveFields>().no_increment()) return;
  for (LaneMask todo = mask; todo != 0; todo &= todo - 1) {
    const int l = std::countr_zero(todo);
    Mbarrier* m = live_mbarrier(w, r.pc, l, places[l]);
    if (m == nullptr || !arrive_at(w, r.pc, l, places[l], *m, 1)) return;
  }
}

void run_discard(Warp& w, const Op& op, LaneMask mask) {
  const Op global = side(op, static_cast<Space>(op.space));
  // The 128 bytes of the line, in parts as large as an access may be.
  constexpr std::uint32_t kLine = 128, kPart = 32;
  std::uint64_t address[kWarpSize];
  load_addresses(w, op, address);
  LaneMask misaligned = 0;
  each(mask, [&](int i) { misaligned |= LaneMask{address[i] % kLine != 0} << i; });
  if (misaligned != 0) {
    report_misaligned_copy(w, w.pc - 1, misaligned, address[std::countr_zero(misaligned)], kLine);
    return;
  }
  for (std::uint32_t at = 0; at < kLine; at += kPart) {
    Request r;
    r.op = &global;
    r.pc = w.pc - 1;
    r.size = kPart;
    r.writes = true;
    r.invalid = mask;
    std::fill(r.missing, r.missing + kWarpSize, ~std::uint32_t{0});
    for (int i = 0; i < kWarpSize; ++i) r.address[i] = address[i] + at;
    if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  }
}

void run_line_hint(Warp& w, const Op& op, LaneMask mask) {
  std::uint64_t address[kWarpSize];
  load_addresses(w, op, address);
  LaneMask misaligned = 0, odd = 0;
  each(mask, [&](int i) { misaligned |= LaneMask{address[i] % op.width != 0} << i; });
  if (misaligned != 0) {
    report_misaligned_copy(w, w.pc - 1, misaligned, address[std::countr_zero(misaligned)],
                           op.width);
    return;
  }
  if (op.src[1] == kNoSlot) return;
  const std::uint32_t* size = source<std::uint32_t>(w, op.src[1]);
  each(mask, [&](int i) { odd |= LaneMask{size[i] % op.width != 0} << i; });
  if (odd == 0) return;
  check::Finding f = finding_at(w, w.pc - 1, odd, check::Kind::kInvalidInstruction);
  f.where = "a bulk prefetch of " + std::to_string(size[std::countr_zero(odd)]) +
            " bytes: the size must be a multiple of " + std::to_string(op.width);
  report(w, std::move(f));
}

}  // namespace lockstep::engine
