#include "simulator/runtime/state/occupancy.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace occupancy_test {

// A kernel that consists of its resource usage only.
class Resources : public engine::Kernel {
 public:
  Resources(int registers, std::uint32_t shared) : registers_(registers), shared_(shared) {}
  const std::string& name() const override { return name_; }
  std::span<const std::uint32_t> parameter_offsets() const override { return {}; }
  std::span<const std::uint32_t> parameter_sizes() const override { return {}; }
  std::uint32_t static_shared_bytes() const override { return shared_; }
  std::uint32_t local_bytes() const override { return 0; }
  std::uint32_t constant_bytes() const override { return 0; }
  int registers() const override { return registers_; }
  std::uint32_t max_threads_per_block() const override { return 128; }
  bool may_poll() const override { return false; }
  engine::Dim3 required_cluster() const override { return {0, 0, 0}; }
  int ptx_target() const override { return 90; }
  const program::LoadError* refusal() const override { return nullptr; }

 private:
  std::string name_ = "kernel";
  int registers_;
  std::uint32_t shared_;
};

constexpr std::size_t kDefault = 48 * 1024;

int on(std::string_view device, int registers, std::uint32_t shared, int threads,
       std::size_t dynamic = 0, std::size_t limit = kDefault) {
  return blocks_per_multiprocessor(*find_profile(device), Resources(registers, shared), threads,
                                   dynamic, limit);
}

// The results of cudaOccupancyMaxActiveBlocksPerMultiprocessor on an H100.
TEST(Occupancy, AgreesWithAnH100) {
  EXPECT_EQ(on("sm_90", 10, 0, 256), 8);   // 2048 threads
  EXPECT_EQ(on("sm_90", 10, 0, 32), 32);   // 32 blocks
  EXPECT_EQ(on("sm_90", 10, 0, 129), 12);  // five warps, beyond the launch bound
  EXPECT_EQ(on("sm_90", 10, 0, 2000), 0);
  EXPECT_EQ(on("sm_90", 10, 45056, 256),
            5);  // static shared memory and the kibibyte that is reserved
  EXPECT_EQ(on("sm_90", 10, 0, 256, 100 << 10),
            0);  // more dynamic shared memory than the kernel was allowed
  EXPECT_EQ(on("sm_90", 10, 0, 256, 100 << 10, 227 << 10), 2);
}

TEST(Occupancy, RegistersLimitWarps) {
  EXPECT_EQ(on("sm_90", 255, 0, 1024), 1) << "an estimate: ptxas may find a way with 64";
  EXPECT_EQ(on("sm_90", 255, 0, 1056), 0);
  EXPECT_EQ(on("sm_90", 64, 0, 1024), 1);
  EXPECT_EQ(on("sm_90", 32, 0, 1024), 2);
  EXPECT_EQ(on("sm_90", 33, 0, 1024), 1) << "registers are given in units of 256 a warp";
  EXPECT_EQ(on("sm_90", 128, 0, 128), 4);
}

TEST(Occupancy, DependsOnTheDevice) {
  EXPECT_EQ(on("sm_75", 10, 0, 1024), 1);
  EXPECT_EQ(on("sm_75", 10, 0, 32), 16);
  EXPECT_EQ(on("sm_90", 10, 46000, 32), 4) << "five, but for the kibibyte that each reserves";
  EXPECT_EQ(on("sm_80", 10, 0, 32), 32);
  EXPECT_EQ(on("sm_89", 10, 0, 256), 6);
  EXPECT_EQ(on("sm_89", 10, 0, 32), 24);
  EXPECT_EQ(on("sm_120", 10, 0, 256), 6);
  EXPECT_EQ(on("sm_120", 10, 0, 32), 24);
}

TEST(Occupancy, AnEmptyBlockDoesNotFit) {
  EXPECT_EQ(on("sm_90", 10, 0, 0), 0);
  EXPECT_EQ(on("sm_90", 10, 0, -1), 0);
}

}  // namespace occupancy_test
}  // namespace lockstep::runtime
