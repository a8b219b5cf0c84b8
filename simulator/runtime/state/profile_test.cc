#include "simulator/runtime/state/profile.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::runtime {
namespace profile_test {

TEST(Profile, NamesAreUniqueAndSayTheCapability) {
  std::set<std::string_view> names;
  for (const Profile& p : profiles()) {
    EXPECT_TRUE(names.insert(p.name).second);
    EXPECT_EQ(p.name, "sm_" + std::to_string(p.compute_capability()));
    EXPECT_EQ(find_profile(p.name), &p);
  }
  EXPECT_EQ(find_profile("sm_35"), nullptr);
  EXPECT_EQ(find_profile(""), nullptr);
}

TEST(Profile, EveryDeviceIsConsistent) {
  for (const Profile& p : profiles()) {
    SCOPED_TRACE(p.name);
    EXPECT_GE(p.shared_per_block_optin, Profile::kSharedPerBlock);
    EXPECT_LE(p.shared_per_block_optin + p.shared_reserved_per_block, p.shared_per_multiprocessor);
    EXPECT_EQ(p.threads_per_multiprocessor % 32, 0);
    EXPECT_GE(p.threads_per_multiprocessor, 1024);
    EXPECT_EQ(p.clusters, p.major >= 9) << "clusters came with sm_90";
    const engine::Limits limits = p.limits();
    EXPECT_EQ(limits.compute_capability, p.compute_capability());
    EXPECT_EQ(limits.shared_per_block_optin, p.shared_per_block_optin);
    EXPECT_EQ(limits.multiprocessors, static_cast<std::uint32_t>(p.multiprocessors));
  }
}

// Values read from an H100 80GB HBM3.
TEST(Profile, Sm90IsAnH100) {
  const Profile& p = *find_profile("sm_90");
  EXPECT_EQ(p.multiprocessors, 132);
  EXPECT_EQ(p.shared_per_multiprocessor, 233472u);
  EXPECT_EQ(p.shared_per_block_optin, 232448u);
  EXPECT_EQ(p.shared_reserved_per_block, 1024u);
  EXPECT_EQ(p.l2_bytes, 52428800);
  EXPECT_EQ(p.bus_bits, 5120);
  EXPECT_EQ(p.clock_khz, 1980000);
  EXPECT_EQ(p.memory_clock_khz, 2619000);
  EXPECT_EQ(p.threads_per_multiprocessor, 2048);
  EXPECT_EQ(p.blocks_per_multiprocessor, 32);
}

}  // namespace profile_test
}  // namespace lockstep::runtime
