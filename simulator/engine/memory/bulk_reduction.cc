#include "simulator/engine/memory/bulk_reduction.h"

#include <algorithm>

#include "simulator/engine/checks/reports.h"
#include "simulator/engine/launch/worker.h"
#include "simulator/engine/memory/access.h"
#include "simulator/memory/describe.h"

namespace lockstep::engine {

using isa::AtomOp;
using isa::Space;
using isa::Type;

std::optional<Op> reduction(const Op& op, AtomOp what, Type type) {
  const bool word = type == Type::kU32 || type == Type::kS32, wide = type == Type::kU64 || type == Type::kS64;
  const bool half = type == Type::kF16 || type == Type::kBF16, floating = type == Type::kF32 || type == Type::kF64;
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
  r.mode = static_cast<std::uint8_t>(what);
  r.width = static_cast<std::uint8_t>(isa::size_of(type));
  r.flags = kStrong;
  if (half) r.flags |= kHalfElements;
  if (floating) r.flags |= kFloatResult;
  if (type == Type::kS32 || type == Type::kS64 || type == Type::kBF16) r.flags |= kSignExtend;
  return r;
}

namespace {

// False: a finding ends the launch.
bool report_unwritten(Warp& w, const Request& r, int lane) {
  if (already_reported(w, check::Kind::kUninitialised, r.pc)) return true;
  first_time(w, check::Kind::kUninitialised, r.pc);
  check::Finding f = access_finding(w, r, Space::kGlobal, 1u << lane, check::Kind::kUninitialised);
  f.where = "the memory it changes was never written";
  if (const memory::Allocation* a = w.block->worker->memory->find(f.access.address)) {
    f.where += ": " + std::to_string(f.access.address - a->begin) + " bytes into " + memory::describe(*a);
  }
  return !report_unless_suppressed(w, std::move(f));
}

}  // namespace

bool reduce_piece(Warp& w, const Op& reduction, std::uint32_t pc, int lane, std::uint64_t address, const std::byte* bytes, std::uint16_t unwritten,
                  bool subnormals) {
  const std::uint32_t size = reduction.width, all = (1u << size) - 1;
  for (std::uint32_t at = 0; at < kBulkChunk; at += size) {
    Request r;
    r.op = &reduction;
    r.pc = pc;
    r.size = size;
    std::fill(r.address, r.address + kWarpSize, address + at);
    r.reads = r.writes = true;
    if ((unwritten >> at & all) != 0) {
      r.invalid = 1u << lane;
      r.missing[lane] = unwritten >> at & all;
    }
    if (!resolve(w, r, Space::kGlobal, 1u << lane)) return false;
    if (r.unwritten != 0 && !report_unwritten(w, r, lane)) return false;
    reduce_element(w, reduction, r, lane, bytes + at, subnormals);
  }
  return true;
}

}  // namespace lockstep::engine
