#include "simulator/runtime/state/occupancy.h"

#include <algorithm>
#include <cstdint>

namespace lockstep::runtime {

int blocks_per_multiprocessor(const Profile& profile, const engine::Kernel& kernel, int threads,
                              std::size_t dynamic_shared, std::size_t dynamic_limit) {
  constexpr int kWarp = 32;
  // Registers are given to a warp in units of 256; a multiprocessor's four schedulers share them
  // evenly.
  constexpr int kRegisterUnit = 256, kSchedulers = 4;
  const auto round_up = [](std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
  };
  if (threads <= 0 || threads > 1024 || dynamic_shared > dynamic_limit) return 0;
  const std::uint64_t shared = kernel.static_shared_bytes() + dynamic_shared;
  if (shared > profile.shared_per_block_optin) return 0;

  const int warps = (threads + kWarp - 1) / kWarp;
  int blocks = std::min(profile.blocks_per_multiprocessor,
                        profile.threads_per_multiprocessor / kWarp / warps);
  if (const int registers = std::clamp(kernel.registers(), 0, 255); registers > 0) {
    const int of_a_warp =
        static_cast<int>(round_up(static_cast<std::uint64_t>(registers) * kWarp, kRegisterUnit));
    const int resident_warps =
        Profile::kRegistersPerMultiprocessor / kSchedulers / of_a_warp * kSchedulers;
    // The number is an estimate from the PTX, and a block runs whatever it is: one block there is.
    blocks = std::min(blocks, std::max(1, resident_warps / warps));
  }
  if (const std::uint64_t used =
          round_up(shared + profile.shared_reserved_per_block, profile.shared_allocation_unit);
      used > 0) {
    blocks = std::min<int>(blocks, static_cast<int>(profile.shared_per_multiprocessor / used));
  }
  return blocks;
}

}  // namespace lockstep::runtime
