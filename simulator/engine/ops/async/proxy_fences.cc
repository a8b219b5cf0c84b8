#include "simulator/engine/ops/async/proxy_fences.h"

#include "simulator/engine/monitor/proxies.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

void run_proxy_fence(Warp& w, const Op& op, LaneMask mask) {
  fence(w, static_cast<check::Scope>(op.scope), mask, op.flags);
  note_proxy_fence(w, mask);
}

void run_tensor_map_fence(Warp& w, const Op& op, LaneMask mask) {
  fence(w, static_cast<check::Scope>(op.scope), mask, op.flags);
  std::uint64_t address[kWarpSize];
  load_addresses(w, op, address);
  std::uint64_t last = 0;
  each(mask, [&](int l) {
    if (address[l] == last) return;
    last = address[l];
    note_tensor_map_fence(w, last);
  });
}

}  // namespace lockstep::engine
