#include "simulator/engine/ops/async/tensor_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/proxies.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/async/bulk_reduction.h"
#include "simulator/engine/ops/async/stores_under_way.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/memory/tensor_map.h"

namespace lockstep::engine {

using isa::AtomOp;
using isa::Space;
using memory::TensorMap;
using memory::TensorRows;
using memory::TensorType;
using program::TensorCopy;
using What = program::TensorCopy::What;

namespace {

constexpr std::uint32_t kPiece = kBulkChunk;     // rows in shared memory are multiples of it
constexpr std::uint32_t kSharedAlignment = 128;  // of a copy's address in shared memory
constexpr std::byte kNan[2] = {
    std::byte{0xf7}, std::byte{0x7f}};  // the value of every two bytes outside the tensor's bounds

Request request(const Op& op, std::uint32_t pc, std::uint32_t size, std::uint64_t address) {
  Request r;
  r.op = &op;
  r.pc = pc;
  r.size = size;
  std::fill(r.address, r.address + kWarpSize, address);
  return r;
}

bool refuse(Warp& w, std::uint32_t pc, int lane, std::string where, std::string detail) {
  check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kInvalidInstruction);
  f.where = std::move(where);
  f.detail = std::move(detail);
  report(w, std::move(f));
  return false;
}

// The bytes of a map at an address of `space`, as ordinary reads see them. `changes`: the map is
// modified afterwards, so its bytes must have been written.
bool read_map(Warp& w, const Op& op, Space space, std::uint32_t pc, int lane, std::uint64_t address,
              std::byte* bytes, bool changes = false) {
  if (address % TensorMap::kAlignment != 0)
    return report_misaligned_copy(w, pc, 1u << lane, address, TensorMap::kAlignment);
  const Op from = side(op, space);
  for (std::uint32_t at = 0; at < TensorMap::kBytes; at += kPiece) {
    Request r = request(from, pc, kPiece, address + at);
    r.reads = true;
    if (!resolve(w, r, space, 1u << lane)) return false;
    if (changes && r.unwritten != 0 && !report_unwritten_change(w, r, space, 1u << lane))
      return false;
    load_element<kPiece>(bytes + at, r.host[lane]);
  }
  return true;
}

bool write_map(Warp& w, const Op& op, Space space, std::uint32_t pc, int lane,
               std::uint64_t address, const std::byte* bytes) {
  const Op to = side(op, space);
  for (std::uint32_t at = 0; at < TensorMap::kBytes; at += kPiece) {
    Request r = request(to, pc, kPiece, address + at);
    r.writes = true;
    if (!resolve(w, r, space, 1u << lane)) return false;
    store_element<kPiece>(r.host[lane], bytes + at);
  }
  return true;
}

constexpr const char* kNoMap = "the 128 bytes at the address are no tensor map";
constexpr const char* kHowToMapIt =
    "cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make one, or tensormap.replace of every "
    "field in 128 bytes of zeros; nothing but these and a copy may "
    "touch its bytes.";

// The element type of a map, as atomics use it.
isa::Type type_of(TensorType t) {
  using isa::Type;
  switch (t) {
    case TensorType::kU8: return Type::kU8;
    case TensorType::kU16: return Type::kU16;
    case TensorType::kU32: return Type::kU32;
    case TensorType::kS32: return Type::kS32;
    case TensorType::kU64: return Type::kU64;
    case TensorType::kS64: return Type::kS64;
    case TensorType::kF16: return Type::kF16;
    case TensorType::kBF16: return Type::kBF16;
    case TensorType::kF64: return Type::kF64;
    default: return Type::kF32;
  }
}

memory::TensorMode mode_of(isa::LoadMode mode) {
  using isa::LoadMode;
  using memory::TensorMode;
  switch (mode) {
    case LoadMode::kFourRows: return TensorMode::kFourRows;
    case LoadMode::kIm2col:
    case LoadMode::kIm2colNoOffsets: return TensorMode::kIm2col;
    case LoadMode::kIm2colW: return TensorMode::kIm2colW;
    case LoadMode::kIm2colW128: return TensorMode::kIm2colW128;
    default: return TensorMode::kTile;
  }
}

// One lane's copy.
class TensorLane {
 public:
  TensorLane(Warp& w, const Op& op, int lane)
      : w_(w),
        op_(op),
        copy_(w.block->program->tensor_copies[op.as<SideDataFields>().index()]),
        lane_(lane),
        pc_(w.pc - 1) {}

  void run() {
    access_.mode = mode_of(copy_.mode);
    if (!find_map() || copy_.what == What::kPrefetch) return;
    for (std::uint32_t d = 0; d < TensorMap::kMostDimensions; ++d) {
      if (copy_.at[d] != kNoSlot) access_.at[d] = source<std::int32_t>(w_, copy_.at[d])[lane_];
    }
    for (int d = 0; d < 3; ++d) {
      if (copy_.offsets[d] != kNoSlot)
        access_.offsets[d] = source<std::uint16_t>(w_, copy_.offsets[d])[lane_];
    }
    access_.writes = copy_.what != What::kLoad;
    access_.to_cluster = copy_.to_space == Space::kSharedCluster;
    access_.sm = w_.block->launch->config->compute_capability;
    if (const std::string why = memory::refusal(map_, access_); !why.empty()) {
      refuse(w_, pc_, lane_, why, "No GPU copies there.");
      return;
    }
    const std::uint64_t shared = address_of(w_, copy_.shared, lane_);
    if (shared % kSharedAlignment != 0) {
      report_misaligned_copy(w_, pc_, 1u << lane_, shared, kSharedAlignment);
      return;
    }
    shared_ = static_cast<std::uint32_t>(shared);
    delivery_.issue = {pc_, w_.block->cluster_rank,
                       w_.index * kWarpSize + static_cast<std::uint32_t>(lane_)};
    TensorRows rows(map_, access_);
    const std::uint32_t covered = map_.covered_bytes(rows.count());
    transferred_ = map_.copied_bytes(rows.count());
    delivery_.bytes.resize(covered);
    if (covered != rows.count() * map_.row_bytes()) delivery_.absent.assign(covered / kPiece, true);
    if (copy_.what == What::kLoad) {
      if (gather(rows)) send_all();
    } else {
      scatter(rows);
    }
  }

 private:
  bool find_map() {
    const std::uint64_t address = address_of(w_, copy_.map, lane_);
    const Launch& launch = *w_.block->launch;
    if (address - launch.shared_window < 1ull << 32 || address - launch.local_window < 1ull << 32) {
      return refuse(
          w_, pc_, lane_, "the tensor map lies in shared or local memory",
          "Copies find it in global and constant memory and among a kernel's parameters alone.");
    }
    std::byte bytes[TensorMap::kBytes];
    if (!read_map(w_, op_, Space::kGlobal, pc_, lane_, address, bytes)) return false;
    const std::optional<TensorMap> map = memory::decode(bytes);
    if (!map) return refuse(w_, pc_, lane_, kNoMap, kHowToMapIt);
    map_ = *map;
    if (const std::string why = memory::refusal(map_, w_.block->launch->config->compute_capability);
        !why.empty())
      return refuse(
          w_, pc_, lane_, "the tensor map is not valid: " + why,
          "What tensormap.replace made of it, cuTensorMapEncodeTiled would have refused.");
    if (map_.rank != copy_.dimensions) {
      return refuse(w_, pc_, lane_,
                    "a copy of " + std::to_string(copy_.dimensions) +
                        " dimensions through the map of a tensor of " + std::to_string(map_.rank),
                    {});
    }
    if (std::string why = memory::mismatch(map_, access_.mode); !why.empty())
      return refuse(w_, pc_, lane_, std::move(why), {});
    if (copy_.what == What::kReduce &&
        (map_.packed() ||
         !reduction(op_, copy_.reduction, type_of(static_cast<TensorType>(map_.type))))) {
      return refuse(w_, pc_, lane_, "a reduction that there is not for elements of the map's type",
                    "PTX ISA, cp.reduce.async.bulk.tensor, says which there are.");
    }
    return copy_.what == What::kPrefetch || check_tensor_map_fence(w_, pc_, lane_, address);
  }

  // Calls `visit(offset, n, within, place)` for every piece of a row: its first byte in the rows,
  // the unit in which it starts, the offset in that unit, and its place in the delivery.
  template <class Visit>
  bool each_piece(std::uint32_t row, Visit visit) const {
    const std::uint32_t unit = map_.shared_unit_bits();
    for (std::uint32_t at = 0; at < map_.row_bytes(); at += kPiece) {
      const std::uint32_t to = (shared_ & kOffsetMask);
      if (!visit(8 * at / unit, 8 * at % unit / 8,
                 map_.place(to, row * map_.row_bytes() + at) - to))
        return false;
    }
    return true;
  }

  // The bytes of a piece that exist in global memory: padding does not.
  std::uint32_t held_bytes() const {
    return map_.padded() ? kPiece * map_.element_bits() / 8 : kPiece;
  }

  bool gather(TensorRows& rows) {
    const std::uint32_t bits = map_.unit_bits(),
                        units = std::max(1u, 8 * kPiece / map_.shared_unit_bits());
    const auto size = static_cast<std::int64_t>(map_.sizes[0]);
    for (std::uint32_t row = 0; row < rows.count(); ++row, rows.next()) {
      const bool inside = rows.inside();
      const bool good =
          each_piece(row, [&](std::uint32_t n, std::uint32_t within, std::uint32_t place) {
            leave_padding(place);
            std::byte* to = &delivery_.bytes[place];
            if (!delivery_.absent.empty()) delivery_.absent[place / kPiece] = false;
            for (std::uint32_t i = 0; i < kPiece; ++i)
              to[i] = map_.fill != 0 ? kNan[i % 2] : std::byte{0};
            const std::int64_t x = rows.coordinate(n);
            if (!inside || x >= size || x + units <= 0) return true;
            const std::uint32_t begin = x < 0 ? static_cast<std::uint32_t>(-x) * bits / 8 : 0;
            const std::int64_t there = std::min<std::int64_t>(size - x, units);
            const std::uint32_t end =
                bits < 8 * kPiece ? static_cast<std::uint32_t>(there) * bits / 8 : kPiece;
            const std::uint64_t from =
                rows.base() + static_cast<std::uint64_t>(x * bits / 8) + within;
            if (!read(from, begin, end, place)) return false;
            if (map_.turned((shared_ & kOffsetMask) + place)) turn(place);
            return true;
          });
      if (!good) return false;
    }
    return true;
  }

  // PTX: "the padded region that gets added is un-initialized".
  void leave_padding(std::uint32_t place) {
    if (held_bytes() == kPiece) return;
    delivery_.unwritten.resize(delivery_.bytes.size());
    std::fill_n(delivery_.unwritten.begin() + place + held_bytes(), kPiece - held_bytes(), true);
  }

  // Swaps the halves of a piece.
  void turn(std::uint32_t place) {
    std::byte* const bytes = &delivery_.bytes[place];
    std::swap_ranges(bytes, bytes + kPiece / 2, bytes + kPiece / 2);
    if (delivery_.unwritten.empty()) return;
    const auto first = delivery_.unwritten.begin() + place;
    std::swap_ranges(first, first + kPiece / 2, first + kPiece / 2);
  }

  // Reads bytes `begin` to `end` of the piece at `address` into `place` of the delivery.
  bool read(std::uint64_t address, std::uint32_t begin, std::uint32_t end, std::uint32_t place) {
    const Op from = side(op_, Space::kGlobal);
    const std::uint32_t step = end - begin == kPiece ? kPiece
                               : map_.padded()       ? 4
                                                     : std::min(kPiece, map_.element_bytes());
    for (std::uint32_t at = begin; at < end; at += step) {
      Request r = request(from, pc_, step, address + at);
      r.reads = true;
      if (!resolve(w_, r, Space::kGlobal, 1u << lane_)) return false;
      load_element(&delivery_.bytes[place + at], r.host[lane_], step);
      if (r.unwritten == 0) continue;
      const std::uint16_t bits = unwritten_bytes(w_, r, Space::kGlobal, lane_, address + at, step);
      if (w_.event == Event::kAbort) return false;
      delivery_.unwritten.resize(delivery_.bytes.size());
      for (std::uint32_t i = 0; i < step; ++i) delivery_.unwritten[place + at + i] = bits >> i & 1;
    }
    const auto type = static_cast<TensorType>(map_.type);
    for (std::uint32_t at = begin; map_.element_bytes() == 4 && at < end; at += 4) {
      std::uint32_t word;
      std::memcpy(&word, &delivery_.bytes[place + at], 4);
      word = memory::loaded_word(type, word);
      std::memcpy(&delivery_.bytes[place + at], &word, 4);
    }
    return true;
  }

  void send_all() {
    const auto barrier = static_cast<std::uint32_t>(address_of(w_, copy_.mbarrier, lane_));
    if (copy_.mask == kNoSlot) {
      send(shared_, barrier);
      return;
    }
    // The same offsets in every block that the mask names. For pairs the mbarrier object is in the
    // destination block or its partner: in the one whose rank has the parity of the named rank.
    const std::uint16_t ranks = source<std::uint16_t>(w_, copy_.mask)[lane_];
    const std::uint32_t side = rank_named(*w_.block, barrier) & 1;
    for (std::uint32_t rank = 0; rank < 16 && w_.event != Event::kAbort; ++rank) {
      if (!(ranks >> rank & 1)) continue;
      const std::uint32_t signalled = copy_.cta_group == 2 ? (rank & ~1u) | side : rank;
      send(named(rank, shared_), named(signalled, barrier));
    }
  }

  void send(std::uint32_t to, std::uint32_t barrier) {
    const Op target = side(op_, Space::kSharedCluster);
    SharedPlace place;
    for (std::uint32_t at = 0; at < delivery_.bytes.size(); at += kPiece) {
      if (!delivery_.absent.empty() && delivery_.absent[at / kPiece]) continue;
      Request r = request(target, pc_, kPiece, to + at);
      r.writes = true;
      auto unfenced = overwritten_without_fence(w_, pc_, lane_, to + at, kPiece);
      if (!resolve(w_, r, Space::kSharedCluster, 1u << lane_) ||
          !report_overwritten(w_, pc_, std::move(unfenced)))
        return;
    }
    if (!shared_place(w_, Space::kSharedCluster, to, place)) return;
    send_delivery(w_, target, lane_, place, barrier, delivery_, transferred_, copy_.cta_group == 2);
  }

  void scatter(TensorRows& rows) {
    const Op from = side(op_, Space::kShared);
    const std::uint32_t bits = map_.unit_bits(), held = held_bytes();
    StoresUnderWay others(w_, pc_, lane_, copy_.what == What::kReduce);
    for (std::uint32_t row = 0; row < rows.count(); ++row, rows.next()) {
      const bool inside = rows.inside();
      const bool good =
          each_piece(row, [&](std::uint32_t n, std::uint32_t within, std::uint32_t place) {
            Request r = request(from, pc_, kPiece, shared_ + place);
            r.reads = true;
            if (!resolve(w_, r, Space::kShared, 1u << lane_) ||
                !check_proxy_fence(w_, pc_, lane_, shared_ + place, kPiece))
              return false;
            if (!delivery_.absent.empty()) delivery_.absent[place / kPiece] = false;
            load_element<kPiece>(&delivery_.bytes[place], r.host[lane_]);
            std::uint16_t unwritten = 0;
            if (r.unwritten != 0)
              unwritten = unwritten_bytes(w_, r, Space::kShared, lane_, shared_ + place, kPiece);
            if (w_.event == Event::kAbort) return false;
            const std::int64_t x = rows.coordinate(n);
            if (!inside || x < 0 || x >= static_cast<std::int64_t>(map_.sizes[0])) return true;
            if (!check_copied_out(w_, pc_, lane_, (shared_ & kOffsetMask) + place, unwritten))
              return false;
            const std::uint64_t address =
                rows.base() + static_cast<std::uint64_t>(x * bits / 8) + within;
            const std::byte* bytes = &delivery_.bytes[place];
            std::byte closed[kPiece];
            if (held != kPiece) {
              unwritten = close_up(bytes, unwritten, closed);
              bytes = closed;
            }
            return copy_.what == What::kReduce ? reduce(address, bytes, unwritten, others)
                                               : write(address, bytes, held, unwritten, others);
          });
      if (!good) return;
    }
    BulkStore s;
    s.issue = delivery_.issue;
    s.lane = static_cast<std::uint32_t>(lane_);
    s.offset = shared_ & kOffsetMask;
    s.bytes = std::move(delivery_.bytes);
    s.absent = std::move(delivery_.absent);
    s.to = std::move(others).places();
    s.combines = copy_.what == What::kReduce;
    async_of(*w_.block).warps[w_.index].bulk_stores.push_back(std::move(s));
  }

  // Compacts sixteen 6-bit elements, stored a byte each, to the form without gaps. Returns the
  // bytes of the result that were never written.
  static std::uint16_t close_up(const std::byte* bytes, std::uint16_t unwritten, std::byte* to) {
    std::uint16_t result = 0;
    for (std::uint32_t four = 0; four < 4; ++four) {
      std::uint32_t word = 0;
      for (std::uint32_t e = 0; e < 4; ++e)
        word |= (std::to_integer<std::uint32_t>(bytes[4 * four + e]) & 0x3f) << 6 * e;
      for (std::uint32_t b = 0; b < 3; ++b)
        to[3 * four + b] = static_cast<std::byte>(word >> 8 * b & 0xff);
      if (unwritten >> 4 * four & 0xf) result |= static_cast<std::uint16_t>(7 << 3 * four);
    }
    return result;
  }

  bool write(std::uint64_t address, const std::byte* bytes, std::uint32_t count,
             std::uint16_t unwritten, StoresUnderWay& others) {
    const Op target = side(op_, Space::kGlobal);
    const std::uint32_t step = unwritten != 0 ? 1 : count == kPiece ? kPiece : 4;
    for (std::uint32_t at = 0; at < count; at += step) {
      Request r = request(target, pc_, step, address + at);
      r.writes = true;
      r.value = bytes + at;
      r.same = &value_is_there;
      if (unwritten >> at & 1) {
        r.invalid = 1u << lane_;
        r.missing[lane_] = 1;
      }
      if (!resolve(w_, r, Space::kGlobal, 1u << lane_) ||
          !others.check(address + at, step, r.host[lane_], bytes + at))
        return false;
      store_element(r.host[lane_], bytes + at, step);
    }
    return true;
  }

  bool reduce(std::uint64_t address, const std::byte* bytes, std::uint16_t unwritten,
              StoresUnderWay& others) {
    if (!others.check(address, kPiece, nullptr, nullptr)) return false;
    const auto type = static_cast<TensorType>(map_.type);
    const Op target = *reduction(op_, copy_.reduction, type_of(type));
    return reduce_piece(w_, target, pc_, lane_, address, bytes, unwritten,
                        type == TensorType::kF32 || type == TensorType::kTF32);
  }

  Warp& w_;
  const Op& op_;
  const TensorCopy& copy_;
  int lane_;
  std::uint32_t pc_;
  TensorMap map_;
  memory::TensorAccess access_;
  std::uint32_t transferred_ = 0;  // bytes
  std::uint32_t shared_ = 0;
  Delivery delivery_;
};

// Types in the order of tensormap.replace.
constexpr std::int32_t kTypeOf[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15};

void replace(TensorMap& map, program::MapField field, std::uint32_t n, std::uint64_t value) {
  using program::MapField;
  const auto narrow = static_cast<std::uint32_t>(value);
  switch (field) {
    case MapField::kAddress: map.address = value; break;
    case MapField::kRank: map.rank = narrow + 1; break;  // PTX counts from zero
    case MapField::kBox: map.box[n] = narrow; break;
    case MapField::kSize: map.sizes[n] = narrow; break;
    case MapField::kElementStride: map.steps[n] = narrow; break;
    case MapField::kStride:
      if (n < 4) map.strides[n] = value;
      break;
    case MapField::kType: map.type = kTypeOf[n]; break;
    case MapField::kInterleave: map.interleave = static_cast<std::int32_t>(n); break;
    case MapField::kSwizzle: map.swizzle = static_cast<std::int32_t>(n); break;
    case MapField::kAtom: map.atom = static_cast<std::int32_t>(n); break;
    case MapField::kFill: map.fill = static_cast<std::int32_t>(n); break;
  }
}

}  // namespace

void run_tensor_copy(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1)
    TensorLane(w, op, std::countr_zero(todo)).run();
}

void run_tensor_map_replace(Warp& w, const Op& op, LaneMask mask) {
  const auto space = static_cast<Space>(op.space);
  const std::uint32_t pc = w.pc - 1;
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    const int lane = std::countr_zero(todo);
    const AddressOperand a{op.src[0], op.immediate, op.as<MemoryFields>().has(kNarrowAddress)};
    const std::uint64_t address = address_of(w, a, lane);
    std::byte bytes[TensorMap::kBytes];
    if (!read_map(w, op, space, pc, lane, address, bytes, /*changes=*/true)) return;
    std::optional<TensorMap> map = memory::decode_or_blank(bytes);
    if (!map) {
      refuse(w, pc, lane, kNoMap, kHowToMapIt);
      return;
    }
    std::uint64_t value = 0;
    if (op.src[1] != kNoSlot)
      value = op.width == 8 ? source<std::uint64_t>(w, op.src[1])[lane]
                            : source<std::uint32_t>(w, op.src[1])[lane];
    replace(*map, op.as<program::MapReplaceFields>().field(),
            op.as<program::MapReplaceFields>().ordinal(), value);
    memory::encode(*map, bytes);
    if (!write_map(w, op, space, pc, lane, address, bytes)) return;
  }
}

void run_tensor_map_copy(Warp& w, const Op& op, LaneMask mask) {
  const BulkCopy& copy = w.block->program->bulk_copies[op.as<SideDataFields>().index()];
  const std::uint32_t pc = w.pc - 1;
  const int lane = std::countr_zero(mask);  // the warp's threads copy together
  const std::uint64_t from = address_of(w, copy.from, lane), to = address_of(w, copy.to, lane);
  if (to % TensorMap::kBytes != 0) {
    report_misaligned_copy(w, pc, 1u << lane, to, TensorMap::kBytes);
    return;
  }
  std::byte bytes[TensorMap::kBytes];
  if (!read_map(w, op, copy.from_space, pc, lane, from, bytes) ||
      !write_map(w, op, copy.to_space, pc, lane, to, bytes))
    return;
  fence(w, static_cast<check::Scope>(op.scope), mask, kRelease);
}

}  // namespace lockstep::engine
