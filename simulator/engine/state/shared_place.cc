#include "simulator/engine/state/shared_place.h"

#include "simulator/engine/state/cluster.h"

namespace lockstep::engine {

bool shared_place(Warp& w, isa::Space space, std::uint64_t address, SharedPlace& place) {
  Block& b = *w.block;
  if (space == isa::Space::kGeneric) {
    if (address - b.launch->shared_window >= (1ull << 32)) return false;
    address -= b.launch->shared_window;
  }
  const auto a = static_cast<std::uint32_t>(address);
  const std::uint32_t rank = rank_named(b, a);
  place.offset = a & kOffsetMask;
  place.block = rank == b.cluster_rank ? &b
                : b.cluster != nullptr && rank < b.cluster->blocks.size()
                    ? b.cluster->blocks[rank].get()
                    : nullptr;
  return place.block != nullptr;
}

}  // namespace lockstep::engine
