#include "simulator/runtime/state/profile.h"

#include <array>

namespace lockstep::runtime {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint32_t kKiB = 1024;
constexpr int kMiB = 1 << 20;

constexpr std::array<Profile, 9> kProfiles = {{
    // name, cc, SMs, memory, threads and blocks per SM, shared: per SM, opt-in, reserved, unit, L2,
    // bus, clocks, fp32:fp64, clusters
    {"sm_75", 7, 5, 40, 16 * kGiB, 1024, 16, 64 * kKiB, 64 * kKiB, 0, 256, 4 * kMiB, 256, 1590000,
     5001000, 32, false},
    {"sm_80", 8, 0, 108, 40 * kGiB, 2048, 32, 164 * kKiB, 163 * kKiB, kKiB, 128, 40 * kMiB, 5120,
     1410000, 1215000, 2, false},
    {"sm_89", 8, 9, 128, 24 * kGiB, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128, 72 * kMiB, 384,
     2520000, 10501000, 64, false},
    {"sm_90", 9, 0, 132, 80 * kGiB, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128, 50 * kMiB, 5120,
     1980000, 2619000, 2, true},
    {"sm_100", 10, 0, 148, 180 * kGiB, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128, 126 * kMiB,
     8192, 1965000, 3996000, 2, true},
    {"sm_103", 10, 3, 148, 270 * kGiB, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128, 126 * kMiB,
     8192, 2032000, 3996000, 64, true},
    {"sm_110", 11, 0, 20, 122 * kGiB, 1536, 24, 228 * kKiB, 227 * kKiB, kKiB, 128, 32 * kMiB, 256,
     1575000, 4266000, 64, true},
    {"sm_120", 12, 0, 170, 32 * kGiB, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128, 96 * kMiB, 512,
     2407000, 14001000, 64, true},
    {"sm_121", 12, 1, 48, 128 * kGiB, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128, 24 * kMiB, 256,
     2418000, 4266000, 64, true},
}};

}  // namespace

engine::Limits Profile::limits() const {
  engine::Limits limits;
  limits.compute_capability = compute_capability();
  limits.shared_per_block = kSharedPerBlock;
  limits.shared_per_block_optin = shared_per_block_optin;
  limits.registers_per_block = kRegistersPerMultiprocessor;
  limits.multiprocessors = static_cast<std::uint32_t>(multiprocessors);
  return limits;
}

std::span<const Profile> profiles() { return kProfiles; }

const Profile* find_profile(std::string_view name) {
  for (const Profile& p : kProfiles) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

std::string profile_names() {
  std::string names;
  for (const Profile& p : kProfiles) names.append(names.empty() ? "" : ", ").append(p.name);
  return names;
}

}  // namespace lockstep::runtime
