#include "simulator/runtime/state/describe.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace describe_test {

using memory::Kind;

TEST(Describe, PlacesAreDescribedByTheNearestAllocation) {
  memory::DeviceMemory memory;
  const auto* a = memory.allocate(4096, 256, Kind::kDevice, 0);
  const auto* b = memory.allocate(64, 256, Kind::kVariable, 0, "weights");
  EXPECT_EQ(describe(*a), "cudaMalloc #1 (4096 bytes)");
  EXPECT_EQ(describe(*b), "'weights' (64 bytes, __device__ variable)");
  EXPECT_EQ(describe_place(memory, a->base), "at the start of cudaMalloc #1 (4096 bytes)");
  EXPECT_EQ(describe_place(memory, a->base + 1), "1 byte into cudaMalloc #1 (4096 bytes)");
  EXPECT_EQ(describe_place(memory, a->base + 4096), "at the end of cudaMalloc #1 (4096 bytes)");
  EXPECT_EQ(describe_place(memory, a->base + 4100),
            "4 bytes past the end of cudaMalloc #1 (4096 bytes)");
  EXPECT_EQ(describe_place(memory, b->base - 8),
            "8 bytes before 'weights' (64 bytes, __device__ variable)");
  EXPECT_EQ(describe_place(memory, 16), "outside all device memory");
  memory.release(a->base);
  EXPECT_EQ(describe_place(memory, a->base + 8),
            "8 bytes into cudaMalloc #1 (4096 bytes), which has been freed");
}

TEST(Describe, APartThatKernelsMayTouchIsDescribedWithTheWhole) {
  memory::DeviceMemory memory;
  const auto* a = memory.allocate(168, 256, Kind::kDevice, 0);
  memory.name_buffer(a->base + 64, 40, "y");
  EXPECT_EQ(describe(*a), "'y' (40 bytes within cudaMalloc #1 of 168 bytes)");
}

TEST(Describe, AWindowWithoutAllocationsHasNoNeighbour) {
  memory::DeviceMemory memory;
  EXPECT_EQ(describe_place(memory, memory.window_begin() + 5),
            "in device memory that nothing was ever allocated near");
}

TEST(Describe, RegisteredHostMemoryIsNoNeighbourOfTheWindow) {
  memory::DeviceMemory memory;
  static char buffer[64];
  memory.register_host(buffer, sizeof buffer);
  EXPECT_EQ(describe_place(memory, memory.window_begin() + 5),
            "in device memory that nothing was ever allocated near");
}

TEST(Describe, KernelsHaveTheirNamesInCpp) {
  EXPECT_EQ(demangled("_Z5storePii"), "store(int*, int)");
  EXPECT_EQ(demangled("main"), "main");
  EXPECT_EQ(demangled("i"), "i") << "extern \"C\", and no int";
}

}  // namespace describe_test
}  // namespace lockstep::runtime
