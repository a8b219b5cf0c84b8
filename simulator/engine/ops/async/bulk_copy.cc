// cp.async.bulk: one thread copies many bytes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/proxies.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/async/bulk_reduction.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/ops/async/stores_under_way.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

using isa::Space;

std::uint64_t address_of(const Warp& w, const AddressOperand& a, int lane) {
  const std::uint64_t base =
      a.narrow ? source<std::uint32_t>(w, a.slot)[lane] : source<std::uint64_t>(w, a.slot)[lane];
  return base + static_cast<std::uint64_t>(a.offset);
}

void send_delivery(Warp& w, const Op& target, int lane, const SharedPlace& place,
                   std::uint32_t barrier, Delivery& delivery, std::uint32_t transferred,
                   bool of_pair) {
  const std::uint32_t pc = delivery.issue.pc;
  Op complete = target;
  complete.as<MemoryFields>().add(kStrong);  // complete_tx has relaxed semantics at cluster scope
                                             // (PTX ISA, complete-tx operation on an mbarrier)
  Request r;
  r.op = &complete;
  r.pc = pc;
  r.size = 8;
  std::fill(r.address, r.address + kWarpSize, barrier);
  SharedPlace object;
  if (!resolve(w, r, Space::kSharedCluster, 1u << lane) ||
      !shared_place(w, Space::kSharedCluster, barrier, object))
    return;
  const std::uint32_t to = place.block->cluster_rank, at = object.block->cluster_rank;
  if (to != at && (!of_pair || (to ^ 1) != at)) {
    check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kMbarrierMisuse);
    f.where = of_pair ? "the mbarrier lies in the shared memory of a block that is neither the "
                        "destination's nor its partner"
                      : "the mbarrier lies in the shared memory of another block than the "
                        "destination";
    report(w, std::move(f));
    return;
  }
  Mbarrier* m = live_mbarrier(w, pc, lane, object);
  if (m == nullptr) return;
  delivery.offset = place.offset;
  delivery.to_rank = to == at ? Delivery::kSameBlock : to;
  if (follows_copies(*w.block->launch)) {
    for (std::size_t at = 0; at < delivery.bytes.size(); at += kBulkChunk) {
      if (delivery.absent.empty() || !delivery.absent[at / kBulkChunk]) {
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::size_t>(kBulkChunk, delivery.bytes.size() - at));
        forget_written(*place.block, place.offset + static_cast<std::uint32_t>(at), bytes);
      }
    }
    m->arriving.push_back({m->state->phase, delivery});
  } else {
    deliver(*place.block, delivery);
  }
  release_to(w, 1u << lane, *m);
  released(w);
  complete_transactions(w, pc, lane, object, *m, transferred);
}

bool check_source(Warp& w, const Warp& issuer, const Issue& issue, std::uint32_t offset,
                  const std::vector<std::byte>& bytes, const std::vector<bool>& absent,
                  const char* advice) {
  const Block& b = *issuer.block;
  const std::byte* now = b.shared.bytes.get() + offset;
  if (!b.launch->check_races || std::memcmp(now, bytes.data(), bytes.size()) == 0) return true;
  std::size_t at = 0;
  while (at < bytes.size() &&
         (now[at] == bytes[at] || (!absent.empty() && absent[at / kBulkChunk])))
    ++at;
  if (at == bytes.size()) return true;
  check::Finding f =
      finding_at(issuer, issue.pc, 1u << issue.thread % kWarpSize, check::Kind::kRace);
  f.space = "shared";
  f.access.address = offset + at;
  f.access.size = 1;
  f.where = "its source has been overwritten before the copy was waited for";
  f.other = last_write_to_shared(w, b, static_cast<std::uint32_t>(offset + at));
  f.detail = advice;
  return !report_unless_suppressed(w, std::move(f));
}

namespace {

constexpr std::uint32_t kChunk = kBulkChunk;

// The part of one lane in a bulk copy.
class BulkLane {
 public:
  BulkLane(Warp& w, const Op& op, int lane)
      : w_(w),
        op_(op),
        copy_(w.block->program->bulk_copies[op.as<SideDataFields>().index()]),
        lane_(lane),
        pc_(w.pc - 1),
        to_(address_of(w, copy_.to, lane)),
        from_(address_of(w, copy_.from, lane)),
        size_(source<std::uint32_t>(w, copy_.size)[lane]) {}

  void run() {
    if (size_ % kChunk != 0) {
      check::Finding f = finding_at(w_, pc_, 1u << lane_, check::Kind::kInvalidInstruction);
      f.where =
          "a bulk copy of " + std::to_string(size_) + " bytes: the size must be a multiple of 16";
      report(w_, std::move(f));
      return;
    }
    for (const std::uint64_t a : {to_, from_}) {
      if (a % kChunk != 0) {
        report_misaligned_copy(w_, pc_, 1u << lane_, a, kChunk);
        return;
      }
    }
    delivery_.issue = {pc_, w_.block->cluster_rank,
                       w_.index * kWarpSize + static_cast<std::uint32_t>(lane_)};
    if (!read()) return;
    if (copy_.to_space == Space::kGlobal) {
      store();
    } else if (copy_.mask == kNoSlot) {
      send(static_cast<std::uint32_t>(to_),
           static_cast<std::uint32_t>(address_of(w_, copy_.mbarrier, lane_)));
    } else {
      // The same offsets in every block that the mask names.
      const std::uint16_t ranks = source<std::uint16_t>(w_, copy_.mask)[lane_];
      for (std::uint32_t rank = 0; rank < 16 && w_.event != Event::kAbort; ++rank) {
        if (!(ranks >> rank & 1)) continue;
        const auto in_rank = [&](std::uint64_t a) {
          return named(rank, static_cast<std::uint32_t>(a));
        };
        send(in_rank(to_), in_rank(address_of(w_, copy_.mbarrier, lane_)));
      }
    }
  }

 private:
  bool read() {
    const Op from = side(op_, copy_.from_space);
    for (std::uint32_t at = 0; at < size_; at += kChunk) {
      Request r = request(from, from_ + at);
      r.reads = true;
      if (!resolve(w_, r, copy_.from_space, 1u << lane_)) return false;
      if (copy_.from_space != Space::kGlobal &&
          !check_proxy_fence(w_, pc_, lane_, static_cast<std::uint32_t>(from_ + at), kChunk))
        return false;
      std::byte chunk[kChunk];
      load_element<kChunk>(chunk, r.host[lane_]);
      delivery_.bytes.insert(delivery_.bytes.end(), chunk, chunk + kChunk);
      if (r.unwritten == 0) continue;
      const std::uint16_t bits =
          unwritten_bytes(w_, r, copy_.from_space, lane_, from_ + at, kChunk);
      if (w_.event == Event::kAbort) return false;
      delivery_.unwritten.resize(size_);
      for (std::uint32_t i = 0; i < kChunk; ++i) delivery_.unwritten[at + i] = bits >> i & 1;
    }
    return true;
  }

  // Copies to shared memory: the bytes arrive with the phase of an mbarrier there.
  void send(std::uint32_t to, std::uint32_t barrier) {
    const bool reduces = copy_.reduction != isa::AtomOp::kNone;
    Op target = side(op_, Space::kSharedCluster);
    if (reduces) target.as<MemoryFields>().add(kStrong);
    for (std::uint32_t at = 0; at < size_; at += kChunk) {
      if (!(reduces ? may_reduce(target, to, at) : may_overwrite(target, to + at))) return;
    }
    SharedPlace place;
    if (!shared_place(w_, Space::kSharedCluster, to, place)) return;
    delivery_.reduction = copy_.reduction;
    delivery_.type = copy_.type;
    delivery_.from_shared = copy_.from_space != Space::kGlobal;
    delivery_.source = static_cast<std::uint32_t>(from_) & kOffsetMask;
    send_delivery(w_, target, lane_, place, barrier, delivery_, size_);
  }

  bool may_overwrite(const Op& target, std::uint32_t address) {
    Request r = request(target, address);
    r.writes = true;
    auto unfenced = overwritten_without_fence(w_, pc_, lane_, address, kChunk);
    return resolve(w_, r, Space::kSharedCluster, 1u << lane_) &&
           report_overwritten(w_, pc_, std::move(unfenced));
  }

  // The result of an element counts as unwritten if a byte was never written on either side.
  bool may_reduce(const Op& target, std::uint32_t to, std::uint32_t at) {
    std::uint16_t there = 0;
    if (!check_reduced(w_, target, pc_, lane_, to + at, there)) return false;
    if (there == 0 && delivery_.unwritten.empty()) return true;
    delivery_.unwritten.resize(size_);
    const auto element = static_cast<std::uint32_t>(isa::size_of(copy_.type));
    for (std::uint32_t first = at; first < at + kChunk; first += element) {
      bool any = false;
      for (std::uint32_t i = first; i < first + element; ++i)
        any |= delivery_.unwritten[i] || (there >> (i - at) & 1);
      std::fill_n(delivery_.unwritten.begin() + first, element, any);
    }
    return true;
  }

  // Copies to global memory.
  void store() {
    const Op target = side(op_, Space::kGlobal);
    const std::uint16_t chosen =
        copy_.mask == kNoSlot ? 0xffff : source<std::uint16_t>(w_, copy_.mask)[lane_];
    if (copy_.reduction != isa::AtomOp::kNone) {
      reduce();
      return;
    }
    if (!check_values(chosen)) return;
    const bool whole = chosen == 0xffff && delivery_.unwritten.empty();
    StoresUnderWay others(w_, pc_, lane_, /*combines=*/false);
    const std::uint32_t step = whole ? kChunk : 1;
    for (std::uint32_t at = 0; at < size_; at += step) {
      if (!(chosen >> (at % kChunk) & 1)) continue;
      Request r = request(target, to_ + at);
      r.size = step;
      r.writes = true;
      r.value = delivery_.bytes.data() + at;
      r.same = &value_is_there;
      if (!delivery_.unwritten.empty() && delivery_.unwritten[at]) r.invalid = 1u << lane_;
      if (!resolve(w_, r, Space::kGlobal, 1u << lane_)) return;
      const std::byte* bytes = delivery_.bytes.data() + at;
      if (!others.check(to_ + at, step, r.host[lane_], bytes)) return;
      store_element(r.host[lane_], bytes, step);
    }
    keep(std::move(others).places(), /*combines=*/false);
  }

  // Checks the copied bytes for derived values. `chosen`: the bytes of each chunk that are copied.
  bool check_values(std::uint16_t chosen) {
    const std::uint32_t source = static_cast<std::uint32_t>(from_) & kOffsetMask;
    for (std::uint32_t at = 0; at < delivery_.unwritten.size(); at += kChunk) {
      const auto unwritten = static_cast<std::uint16_t>(unwritten_of(at) & chosen);
      if (!check_copied_out(w_, pc_, lane_, source + at, unwritten)) return false;
    }
    return true;
  }

  // The bytes of a chunk whose source counts as unwritten.
  std::uint16_t unwritten_of(std::uint32_t at) const {
    std::uint16_t unwritten = 0;
    for (std::uint32_t i = 0; i < kChunk && !delivery_.unwritten.empty(); ++i)
      unwritten |= static_cast<std::uint16_t>(delivery_.unwritten[at + i] << i);
    return unwritten;
  }

  void reduce() {
    if (!check_values(0xffff)) return;
    const Op target = *reduction(op_, copy_.reduction, copy_.type);
    StoresUnderWay others(w_, pc_, lane_, /*combines=*/true);
    for (std::uint32_t at = 0; at < size_; at += kChunk) {
      if (!others.check(to_ + at, kChunk, nullptr, nullptr)) return;
      // Sums of f32 keep subnormals, unlike those of red.global: an H100 does so.
      if (!reduce_piece(w_, target, pc_, lane_, to_ + at, delivery_.bytes.data() + at,
                        unwritten_of(at), true))
        return;
    }
    keep(std::move(others).places(), /*combines=*/true);
  }

  // Keeps the copy until it is waited for.
  void keep(Spans places, bool combines) {
    BulkStore s;
    s.issue = delivery_.issue;
    s.lane = static_cast<std::uint32_t>(lane_);
    s.offset = static_cast<std::uint32_t>(from_) & kOffsetMask;
    s.bytes = std::move(delivery_.bytes);
    s.to = std::move(places);
    s.combines = combines;
    async_of(*w_.block).warps[w_.index].bulk_stores.push_back(std::move(s));
  }

  Request request(const Op& op, std::uint64_t address) const {
    Request r;
    r.op = &op;
    r.pc = pc_;
    r.size = kChunk;
    std::fill(r.address, r.address + kWarpSize, address);
    return r;
  }

  Warp& w_;
  const Op& op_;
  const BulkCopy& copy_;
  int lane_;
  std::uint32_t pc_;
  std::uint64_t to_, from_;
  std::uint32_t size_;
  Delivery delivery_;
};

bool check_source_kept(Warp& w, const BulkStore& s) {
  return check_source(w, w, s.issue, s.offset, s.bytes, s.absent,
                      "cp.async.bulk.wait_group.read says when the source may be used again.");
}

// The copy may have read its source only now. Other threads may overwrite the source once they are
// ordered after this.
bool read_source_now(Warp& w, const BulkStore& s) {
  if (!w.block->launch->check_races) return true;
  const Op from = side(w.block->program->ops[s.issue.pc], Space::kShared);
  for (std::size_t at = 0; at < s.bytes.size(); at += kChunk) {
    if (!s.absent.empty() && s.absent[at / kChunk]) continue;
    Request r;
    r.op = &from;
    r.pc = s.issue.pc;
    r.size = kChunk;
    r.reads = true;
    std::fill(r.address, r.address + kWarpSize, s.offset + at);
    if (!resolve(w, r, Space::kShared, 1u << s.lane)) return false;
  }
  return true;
}

// Call when a thread waits for the copy, or when its warp ends.
bool finish_store(Warp& w, const BulkStore& s) {
  return check_source_kept(w, s) && read_source_now(w, s);
}

}  // namespace

void run_bulk_copy(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1)
    BulkLane(w, op, std::countr_zero(todo)).run();
}

void run_bulk_commit(Warp& w, const Op&, LaneMask mask) {
  AsyncWarp& state = async_of(*w.block).warps[w.index];
  for (BulkStore& s : state.bulk_stores) {
    if ((mask >> s.lane & 1) && s.group == ~0u) s.group = state.bulk_groups[s.lane];
  }
  each(mask, [&](int l) { ++state.bulk_groups[l]; });
}

void run_bulk_wait(Warp& w, const Op& op, LaneMask mask) {
  if (!w.block->async) return;
  AsyncWarp& state = w.block->async->warps[w.index];
  const auto left = static_cast<std::uint64_t>(op.immediate);
  const auto due = [&](const BulkStore& s) {
    return (mask >> s.lane & 1) && s.group != ~0u && s.group + left < state.bulk_groups[s.lane];
  };
  for (const BulkStore& s : state.bulk_stores) {
    if (due(s) && !finish_store(w, s)) return;
  }
  std::erase_if(state.bulk_stores, due);
}

void check_sources_at_exit(Warp& w) {
  if (!w.block->async) return;
  for (const BulkStore& s : w.block->async->warps[w.index].bulk_stores) {
    if (!finish_store(w, s)) return;
  }
}

}  // namespace lockstep::engine
