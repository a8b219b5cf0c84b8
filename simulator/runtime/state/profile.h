// The devices that can be simulated: limits and properties of a common data-centre part of each
// architecture (for sm_89 and sm_120 a desktop part).
//
// Sources: CUDA C++ Programming Guide, "Compute Capabilities", technical specifications per compute
// capability; clocks, memory sizes and bus widths are those of T4, A100 40 GB, RTX 4090 ("NVIDIA
// Ada GPU Architecture", appendix A: 128 multiprocessors, 72 MiB of L2, 384 bits, 2,520 MHz, 21
// Gbit/s), H100 SXM, B200, B300, Jetson Thor (sm_110), RTX 5090 and DGX Spark (sm_121). sm_103,
// sm_110 and sm_121 are for code of these targets alone; the suites run on the others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "simulator/engine/launch/launch.h"

namespace lockstep::runtime {

struct Profile {
  std::string_view name;  // "sm_90", the value of LOCKSTEP_DEVICE
  int major, minor;
  int multiprocessors;
  // Of the real part; the host may limit a program to less (environment.h).
  std::uint64_t memory_bytes;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  std::uint32_t shared_per_multiprocessor;  // bytes
  std::uint32_t shared_per_block_optin;     // bytes
  std::uint32_t shared_reserved_per_block;  // bytes, counted by occupancy
  std::uint32_t shared_allocation_unit;     // bytes
  int l2_bytes;
  int bus_bits;
  int clock_khz, memory_clock_khz;
  int single_to_double_ratio;
  bool clusters;

  int compute_capability() const { return 10 * major + minor; }
  // The largest cluster, for a kernel that opts in to more blocks than is portable.
  int largest_cluster() const { return major == 9 || major == 10 ? 16 : kPortableClusterSize; }
  // The following are the same for all devices.
  static constexpr int kRegistersPerMultiprocessor = 65536;
  static constexpr std::uint32_t kSharedPerBlock = 48 * 1024;
  static constexpr int kPortableClusterSize = 8;

  engine::Limits limits() const;
};

std::span<const Profile> profiles();
// Returns nullptr if there is no device of that name.
const Profile* find_profile(std::string_view name);
// "sm_75, sm_80, ..."
std::string profile_names();

}  // namespace lockstep::runtime
