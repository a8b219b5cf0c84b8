// The sentence of a status.
#include "kernels/launch_status.h"

#include <gtest/gtest.h>

namespace lockstep::kernels {
namespace {

TEST(LaunchStatus, NamesTheLauncherTheOperationAndTheError) {
  const LaunchStatus status = status_of(cudaErrorInvalidDevice, "dot", "launching 2 blocks");
  EXPECT_EQ(status.message,
            "dot: launching 2 blocks: cudaErrorInvalidDevice, invalid device ordinal");
  EXPECT_TRUE(status.of_cuda);
}

TEST(LaunchStatus, NamesTheRemedyWhereNoKernelFitsTheDevice) {
  const LaunchStatus status = status_of(cudaErrorNoKernelImageForDevice, "dot", "launching");
  EXPECT_TRUE(status.message.ends_with(
      ". Compile for this device, or embed the PTX of an older one, such as compute_75"))
      << status.message;
}

TEST(LaunchStatus, OfSuccessIsEmpty) {
  EXPECT_TRUE(status_of(cudaSuccess, "dot", "launching").ok());
  EXPECT_EQ(status_of(cudaSuccess, "dot", "launching").message, "");
}

}  // namespace
}  // namespace lockstep::kernels
