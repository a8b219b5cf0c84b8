// The meaning of --device= on machines without a GPU, with one, and with several.
#include "harness/conform/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace target_test {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Driver machine(int gpus) {
  Driver d;
  d.version = 13000;
  for (int i = 0; i < gpus; ++i)
    d.gpus.push_back({"NVIDIA H100", 9, 0, "GPU-" + std::to_string(i)});
  if (gpus == 0) d.error = "there is no NVIDIA driver";
  return d;
}

TEST(Target, IsTheSimulatorUnlessAGpuIsNamed) {
  for (const char* device : {"", "simulator", "sm_80"}) {
    const Targets t = choose_targets(device, machine(0));
    ASSERT_THAT(t.targets, SizeIs(1)) << t.error;
    EXPECT_FALSE(t.targets[0].silicon);
    EXPECT_EQ(t.targets[0].variables.at("LOCKSTEP_GPU"), "simulated");
    EXPECT_EQ(t.targets[0].variables.contains("LOCKSTEP_DEVICE"), std::string(device) == "sm_80");
  }
}

TEST(Target, IsTheGpuThatIsNamed) {
  const Targets only = choose_targets("gpu", machine(1));
  ASSERT_THAT(only.targets, SizeIs(1)) << only.error;
  EXPECT_TRUE(only.targets[0].silicon);
  EXPECT_EQ(only.targets[0].variables.at("LOCKSTEP_GPU"), "required");
  EXPECT_FALSE(only.targets[0].variables.contains("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(only.targets[0].name, HasSubstr("NVIDIA H100 (sm_90)"));

  const Targets second = choose_targets("1", machine(2));
  ASSERT_THAT(second.targets, SizeIs(1)) << second.error;
  EXPECT_EQ(second.targets[0].variables.at("CUDA_VISIBLE_DEVICES"), "GPU-1");
  EXPECT_THAT(choose_targets("all", machine(3)).targets, SizeIs(3));
  const Targets two = choose_targets("2,0", machine(3));
  ASSERT_THAT(two.targets, SizeIs(2)) << two.error;
  EXPECT_EQ(two.targets[0].device, "2");
  EXPECT_EQ(two.targets[1].device, "0");
}

TEST(Target, ThatIsNotThereIsNoUnknownTarget) {
  for (const char* device : {"gpu", "all", "0"}) {
    const Targets t = choose_targets(device, machine(0));
    EXPECT_TRUE(t.absent) << device;
    EXPECT_THAT(t.targets, SizeIs(0));
    EXPECT_THAT(t.error, HasSubstr("there is no NVIDIA driver. --device=simulator runs"));
  }
  const Targets third = choose_targets("0,2", machine(2));
  EXPECT_TRUE(third.absent);
  EXPECT_EQ(third.error, "there is no GPU 2: this machine has 2");
  EXPECT_THAT(third.targets, SizeIs(0));
  for (const char* device : {"H100", "sm_", "sm_9x", "0,", "0,0", "-1", "GPU"}) {
    const Targets t = choose_targets(device, machine(2));
    EXPECT_FALSE(t.absent) << device;
    EXPECT_THAT(t.error, HasSubstr("--device=")) << device;
  }
}

}  // namespace target_test
}  // namespace lockstep
