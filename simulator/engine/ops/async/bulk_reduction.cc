#include "simulator/engine/ops/async/bulk_reduction.h"

#include <algorithm>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/proxies.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/ops/memory/memory_ops.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {

using isa::AtomOp;
using isa::Space;
using isa::Type;

std::optional<Op> reduction(const Op& op, AtomOp what, Type type) {
  const bool word = type == Type::kU32 || type == Type::kS32,
             wide = type == Type::kU64 || type == Type::kS64;
  const bool half = type == Type::kF16 || type == Type::kBF16,
             floating = type == Type::kF32 || type == Type::kF64;
  const bool bits = type == Type::kB32 || type == Type::kB64;
  bool possible = false;
  switch (what) {
    case AtomOp::kAdd: possible = word || type == Type::kU64 || half || floating; break;
    case AtomOp::kMin:
    case AtomOp::kMax: possible = word || wide || half; break;
    case AtomOp::kInc:
    case AtomOp::kDec: possible = type == Type::kU32; break;
    default: possible = word || type == Type::kU64 || bits; break;
  }
  if (!possible) return std::nullopt;
  Op r = side(op, Space::kGlobal);
  r.action = Action::kAtomic;
  r.as<AtomicFields>().set_what(what);
  r.width = static_cast<std::uint8_t>(isa::size_of(type));
  r.as<MemoryFields>().set(kStrong);
  if (half) r.as<MemoryFields>().add(kHalfElements);
  if (floating) r.as<MemoryFields>().add(kFloatResult);
  if (type == Type::kS32 || type == Type::kS64 || type == Type::kBF16)
    r.as<MemoryFields>().add(kSignExtend);
  return r;
}

namespace {

// Whether a reduction of `size` bytes at `offset` is unfinished.
bool is_reduced(const Block& b, std::uint32_t offset, std::uint32_t size) {
  for (const auto& [place, m] : b.async->mbarriers) {
    for (const Mbarrier::Arriving& a : m.arriving) {
      if (a.delivery.reduction != AtomOp::kNone && a.delivery.holds(offset, size)) return true;
    }
  }
  return false;
}

}  // namespace

bool reduce_piece(Warp& w, const Op& reduction, std::uint32_t pc, int lane, std::uint64_t address,
                  const std::byte* bytes, std::uint16_t unwritten, bool subnormals) {
  const std::uint32_t size = reduction.width, all = (1u << size) - 1;
  for (std::uint32_t at = 0; at < kBulkChunk; at += size) {
    Request r;
    r.op = &reduction;
    r.pc = pc;
    r.size = size;
    std::fill(r.address, r.address + kWarpSize, address + at);
    r.reads = r.writes = r.counts_changes = true;
    if ((unwritten >> at & all) != 0) {
      r.invalid = 1u << lane;
      r.missing[lane] = unwritten >> at & all;
    }
    if (!resolve(w, r, Space::kGlobal, 1u << lane)) return false;
    if (r.unwritten != 0 && !report_unwritten_change(w, r, Space::kGlobal, 1u << lane))
      return false;
    reduce_element(w, reduction, r, lane, bytes + at, subnormals);
  }
  return true;
}

bool check_reduced(Warp& w, const Op& target, std::uint32_t pc, int lane, std::uint32_t address,
                   std::uint16_t& unwritten, std::uint32_t size, bool by_async_proxy) {
  Request r;
  r.op = &target;
  r.pc = pc;
  r.size = size;
  std::fill(r.address, r.address + kWarpSize, address);
  // Bytes of an unfinished copy count as never written, so neither call requires written bytes as a
  // read would. After the second call this copy is the last writer.
  SharedPlace place;
  std::uint32_t missing = 0;
  const bool exists = shared_place(w, Space::kSharedCluster, address, place) &&
                      shared_range(*w.block->launch, place.offset, place.offset + size) != nullptr;
  if (exists && w.block->launch->check_initialisation) {
    missing =
        missing_bytes(reinterpret_cast<const std::uint8_t*>(place.block->shared.written.get()),
                      place.offset, size);
  }
  if (!resolve(w, r, Space::kSharedCluster, 1u << lane)) return false;
  if (by_async_proxy && !check_proxy_fence(w, pc, lane, *place.block, place.offset, size))
    return false;
  r.writes = true;
  if (!resolve(w, r, Space::kSharedCluster, 1u << lane)) return false;
  if (missing == 0 || (place.block->async && is_reduced(*place.block, place.offset, size)))
    return true;
  r.address[lane] = place.offset;
  r.unwritten = 1u << lane;
  r.missing[lane] = missing;
  if (!check_not_under_way(w, r, *place.block, r.unwritten)) return false;
  unwritten = static_cast<std::uint16_t>(missing);
  return report_unwritten_change(w, r, Space::kShared, 1u << lane);
}

void combine(Block& b, const Delivery& d) {
  const auto size = static_cast<std::uint32_t>(isa::size_of(d.type));
  std::byte* to = b.shared.bytes.get() + d.offset;
  for (std::size_t at = 0; at < d.bytes.size(); at += size) {
    std::uint64_t old = 0, value = 0;
    std::memcpy(&old, to + at, size);
    std::memcpy(&value, d.bytes.data() + at, size);
    const std::uint64_t now =
        reduced_integer(d.reduction, isa::is_signed(d.type), size, old, value);
    std::memcpy(to + at, &now, size);
  }
}

void hide_what_is_under_way(Block& b, const Delivery& arrived) {
  for (const auto& [place, m] : b.async->mbarriers) {
    for (const Mbarrier::Arriving& a : m.arriving) {
      for (std::uint32_t at = 0; at < arrived.bytes.size(); at += kBulkChunk) {
        const std::uint32_t bytes = std::min<std::uint32_t>(
            kBulkChunk, static_cast<std::uint32_t>(arrived.bytes.size()) - at);
        if (a.delivery.to_rank == Delivery::kSameBlock &&
            a.delivery.holds(arrived.offset + at, bytes))
          forget_written(b, arrived.offset + at, bytes);
      }
    }
  }
}

}  // namespace lockstep::engine
