// A required device is present, or the run reports which one is missing and why.
#include "harness/device/gpu_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const GpuFacts kSilicon{"", false, "/usr/lib/libcudart.so.13", true};
const GpuFacts kNoDriver{"cudaErrorInsufficientDriver: too old", false, "/usr/lib/libcudart.so.13",
                         true};
const GpuFacts kSimulatedGpu{"", true, "/lockstep/libcudart.so.13", true};
const GpuFacts kStaticRuntime{"cudaErrorInsufficientDriver: too old", false, "", true};

TEST(GpuPolicy, ReadsItsFourNamesAndNoOther) {
  EXPECT_EQ(parse_gpu_policy(""), GpuPolicy::kAuto);
  EXPECT_EQ(parse_gpu_policy("auto"), GpuPolicy::kAuto);
  EXPECT_EQ(parse_gpu_policy("required"), GpuPolicy::kRequired);
  EXPECT_EQ(parse_gpu_policy("simulated"), GpuPolicy::kSimulated);
  EXPECT_EQ(parse_gpu_policy("off"), GpuPolicy::kOff);
  EXPECT_EQ(parse_gpu_policy("Required"), std::nullopt);
  EXPECT_EQ(parse_gpu_policy("1"), std::nullopt);
}

TEST(GpuPolicy, RequiredTakesSiliconAlone) {
  EXPECT_EQ(gpu_problem(GpuPolicy::kRequired, kSilicon), "");
  EXPECT_THAT(gpu_problem(GpuPolicy::kRequired, kNoDriver),
              AllOf(StartsWith("No GPU was found: cudaErrorInsufficientDriver: too old. "),
                    HasSubstr("nvidia-smi")));
  EXPECT_THAT(
      gpu_problem(GpuPolicy::kRequired, kSimulatedGpu),
      StartsWith("No GPU was found: the CUDA runtime of this process is the simulated GPU"));
  EXPECT_THAT(gpu_problem(GpuPolicy::kRequired, kStaticRuntime), StartsWith("No GPU was found"));
}

TEST(GpuPolicy, RequiredHoldsForProgramsWithoutKernelsToo) {
  GpuFacts host_only = kNoDriver;
  host_only.expects_kernels = false;
  EXPECT_THAT(gpu_problem(GpuPolicy::kRequired, host_only), StartsWith("No GPU was found"));
}

TEST(GpuPolicy, SimulatedTakesTheSimulatorAlone) {
  EXPECT_EQ(gpu_problem(GpuPolicy::kSimulated, kSimulatedGpu), "");
  EXPECT_THAT(gpu_problem(GpuPolicy::kSimulated, kSilicon),
              HasSubstr("/usr/lib/libcudart.so.13 answers"));
  EXPECT_THAT(gpu_problem(GpuPolicy::kSimulated, kStaticRuntime), HasSubstr("--cudart=shared"));
}

TEST(GpuPolicy, AutoAndOffNeedADeviceOnlyForKernels) {
  for (GpuPolicy p : {GpuPolicy::kAuto, GpuPolicy::kOff}) {
    EXPECT_EQ(gpu_problem(p, kSimulatedGpu), "");
    EXPECT_THAT(gpu_problem(p, kNoDriver),
                StartsWith("No GPU was found: cudaErrorInsufficientDriver"));
    GpuFacts host_only = kNoDriver;
    host_only.expects_kernels = false;
    EXPECT_EQ(gpu_problem(p, host_only), "");
  }
  EXPECT_EQ(gpu_problem(GpuPolicy::kAuto, kSilicon), "");
}

}  // namespace
}  // namespace lockstep
