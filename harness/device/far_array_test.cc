// Arrays in parts far apart, on the simulated GPU: the contents of each part, and no memory in
// between.
#include "harness/device/far_array.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "harness/property/case.h"

namespace lockstep {
namespace {

using Bytes = std::vector<unsigned char>;

TEST(FarArray, HoldsItsPartsWhereTheyLie) {
  constexpr std::uint64_t kFar = (std::uint64_t{1} << 37) + 4096;
  const CaseOutcome outcome = run_case([&] {
    // Two parts in one page, two in neighbouring pages, and one far from all others.
    const std::vector<FarArray::Part> parts = {{kFar, 64},
                                               {0, 64},
                                               {128, 64},
                                               {FarArray::kPage * 3 - 32, 32},
                                               {FarArray::kPage * 3 + 64, 64}};
    FarArray far("far", parts, 4);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(far.data()) % 256, 4u);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Bytes bytes(parts[i].bytes, static_cast<unsigned char>(i + 1));
      far.write(parts[i].begin, bytes.data(), bytes.size());
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Bytes bytes(parts[i].bytes);
      far.read(parts[i].begin, bytes.data(), bytes.size());
      EXPECT_EQ(bytes, Bytes(parts[i].bytes, static_cast<unsigned char>(i + 1))) << i;
    }
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
}

TEST(FarArray, HasNothingBetweenItsParts) {
  const CaseOutcome outcome = run_case([&] {
    const FarArray far("far", {{0, 64}, {std::uint64_t{1} << 33, 64}});
    Bytes bytes(1);
    far.read(std::uint64_t{1} << 32, bytes.data(), 1);
  });
  EXPECT_EQ(outcome.failure.label(), "cuda-error") << outcome.failure.message;
}

TEST(FarArray, GivesBackItsAddresses) {
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(run_case([&] {
                  FarArray("far", {{0, 64}, {std::uint64_t{1} << 37, 64}});
                }).held())
        << round;
  }
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after, before);
}

TEST(FarArray, IsAsWideAsItSays) {
  const CaseOutcome outcome = run_case([&] {
    const std::uint64_t widest = FarArray::widest();
    EXPECT_GE(widest, std::uint64_t{1} << 33);
    FarArray far("far", {{0, 64}, {widest - 64, 64}}, 252);
    const unsigned char byte = 7;
    far.write(widest - 1, &byte, 1);
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message << outcome.not_run.value_or("");
}

TEST(FarArray, OfNothingIsAnAddress) {
  EXPECT_TRUE(run_case([] { EXPECT_NE(FarArray("none", {}).data(), nullptr); }).held());
}

}  // namespace
}  // namespace lockstep
