// st.bulk: writes zeros to many bytes of shared memory at once, through the generic proxy (PTX ISA
// 9.0, 9.7.9.13).
#include <bit>
#include <cstring>
#include <string>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {
namespace {

using isa::Space;

constexpr std::uint64_t kMost = 1 << 24;

bool store_zeros(Warp& w, const Op& op, int lane) {
  const program::AsyncStore& s = w.block->program->async_stores[op.as<SideDataFields>().index()];
  const std::uint64_t size = source<std::uint64_t>(w, s.data[0])[lane],
                      to = address_of(w, s.to, lane);
  const auto refuse = [&](check::Kind kind, std::string where) {
    check::Finding f = finding_at(w, w.pc - 1, 1u << lane, kind);
    f.where = std::move(where);
    f.access.address = to;
    report(w, std::move(f));
    return false;
  };
  if (s.space == Space::kGeneric && to - w.block->launch->shared_window >= 1ull << 32)
    return refuse(check::Kind::kInvalidInstruction,
                  "the address is not one of shared memory, where this instruction writes");
  if (size % 8 != 0 || size > kMost)
    return refuse(check::Kind::kInvalidInstruction,
                  "the size is " + std::to_string(size) +
                      " bytes, and must be a multiple of 8 up to " + std::to_string(kMost));
  if (to % 8 != 0)
    return refuse(check::Kind::kMisaligned,
                  "the address must be a multiple of 8 bytes, as the size must");
  static constexpr std::byte kZeros[8] = {};
  Op target = side(op, s.space);
  for (std::uint64_t at = 0; at < size; at += sizeof kZeros) {
    Request r;
    r.op = &target;
    r.pc = w.pc - 1;
    r.size = sizeof kZeros;
    r.writes = true;
    r.address[lane] = to + at;
    r.value = kZeros;
    r.value_stride = 0;
    r.same = &value_is_there;
    if (!resolve(w, r, s.space, 1u << lane)) return false;
    store_element(r.host[lane], kZeros, sizeof kZeros);
  }
  return true;
}

}  // namespace

void run_bulk_store(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    if (!store_zeros(w, op, std::countr_zero(todo))) return;
  }
}

}  // namespace lockstep::engine
