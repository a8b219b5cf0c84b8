// Transaction model: what one memory request of a warp touches, computed from its addresses.
//
// Global memory is moved in 32-byte sectors, four to a 128-byte line (CUDA C++ Programming Guide,
// device memory accesses; the same counts that Nsight Compute reports as sectors per request). A
// request touches every line and sector that holds a byte one of its lanes wants, once, however
// many lanes want it.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace lockstep::reference {

inline constexpr std::uint64_t kSectorBytes = 32;
inline constexpr std::uint64_t kLineBytes = 128;

using Addresses = Eigen::Array<std::uint64_t, Eigen::Dynamic, 1>;

struct Transactions {
  std::uint64_t requests = 0;  // of warps in which a lane took part
  std::uint64_t lines = 0;
  std::uint64_t sectors = 0;
  std::uint64_t wanted_bytes = 0;  // distinct bytes that a lane asked for
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

// One request: the byte addresses of the lanes that take part (at most 32), each for
// `element_bytes` bytes (1, 2, 4, 8 or 16). An address is a multiple of element_bytes (asserted).
// No lane: no request.
Transactions request(const Eigen::Ref<const Addresses>& addresses, int element_bytes);

}  // namespace lockstep::reference
