// Transaction model: the lines and sectors that one memory request of a warp accesses, computed
// from its addresses.
//
// Global memory is accessed in 32-byte sectors, four to a 128-byte line (CUDA C++ Programming
// Guide, device memory accesses; Nsight Compute reports the same counts as sectors per request). A
// request accesses every line and sector with a byte of one of its lanes exactly once, however many
// lanes use it.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace lockstep::reference {

inline constexpr std::uint64_t kSectorBytes = 32;
inline constexpr std::uint64_t kLineBytes = 128;

using Addresses = Eigen::Array<std::uint64_t, Eigen::Dynamic, 1>;

struct Transactions {
  std::uint64_t requests = 0;  // of warps in which at least one lane takes part
  std::uint64_t lines = 0;
  std::uint64_t sectors = 0;
  std::uint64_t wanted_bytes = 0;  // distinct bytes that lanes request
  double line_efficiency() const {
    return lines ? static_cast<double>(wanted_bytes) / static_cast<double>(lines * kLineBytes) : 0;
  }
  double sector_efficiency() const {
    return sectors ? static_cast<double>(wanted_bytes) / static_cast<double>(sectors * kSectorBytes)
                   : 0;
  }
  Transactions& operator+=(const Transactions& other);
  bool operator==(const Transactions&) const = default;
};

// One request: the byte addresses of the participating lanes (at most 32), each for `element_bytes`
// bytes (1, 2, 4, 8 or 16). An address must be a multiple of element_bytes (asserted). Without
// lanes there is no request.
Transactions request(const Eigen::Ref<const Addresses>& addresses, int element_bytes);

}  // namespace lockstep::reference
