// Which copies a kernel may overtake.
#include "simulator/runtime/state/copies_under_way.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace {

constexpr StreamOrder kLegacy{1, true, true}, kA{3, false, true}, kB{4, false, true}, kFree{5, false, false}, kOtherFree{6, false, false};

class CopiesBesideKernels : public ::testing::Test {
 protected:
  void put(const StreamOrder& stream, memory::Address to = 0x1000, bool stages = false) { copies.put(stream, 0, to, 64, "cudaMemcpy", stages); }
  // How many a kernel may overtake.
  std::size_t beside(const StreamOrder& stream, int device = 0) { return copies.before_kernel(stream, device).size(); }
  CopiesUnderWay copies;
};

TEST_F(CopiesBesideKernels, AStreamIsOrderedByItself) {
  put(kFree);
  EXPECT_EQ(beside(kFree), 0u);
}

TEST_F(CopiesBesideKernels, StreamsThatTheProgramMadeAreNotOrdered) {
  put(kA);
  ASSERT_EQ(beside(kB), 1u);
  EXPECT_EQ(copies.beside_kernel()[0].begin, 0x1000u);
  EXPECT_EQ(copies.beside_kernel()[0].end, 0x1040u);
  EXPECT_EQ(copies.beside_kernel()[0].by, "cudaMemcpy");
  EXPECT_EQ(beside(kFree), 1u);
  EXPECT_EQ(beside(kB, 1), 0u) << "a kernel of another device";
}

TEST_F(CopiesBesideKernels, TheLegacyStreamIsOrderedWithBlockingOnesAlone) {
  put(kLegacy);
  EXPECT_EQ(beside(kFree), 1u);
  EXPECT_EQ(beside(kA), 0u);
  EXPECT_EQ(beside(kFree), 0u) << "the kernel in A may have told the host that it is done";
  put(kA);
  EXPECT_EQ(beside(kLegacy), 0u);
  put(kFree);
  EXPECT_EQ(beside(kLegacy), 1u);
}

TEST_F(CopiesBesideKernels, TheLegacyStreamStandsBetweenBlockingOnes) {
  put(kA);
  put(kLegacy, 0x2000);
  EXPECT_EQ(beside(kOtherFree), 2u);
  EXPECT_EQ(beside(kB), 0u);
}

TEST_F(CopiesBesideKernels, ACopyFromPageableMemoryWaitsForWhatItsStreamHadBefore) {
  put(kLegacy);
  put(kLegacy, 0x2000, true);
  ASSERT_EQ(beside(kFree), 1u);
  EXPECT_EQ(copies.beside_kernel()[0].begin, 0x2000u);
  put(kFree, 0x3000);
  put(kLegacy, 0x4000, true);
  EXPECT_EQ(beside(kOtherFree), 2u) << "not for other streams";
}

TEST_F(CopiesBesideKernels, WhoWaitsForSomethingEndsAll) {
  put(kFree);
  ASSERT_EQ(beside(kA), 1u);
  copies.forget();
  EXPECT_TRUE(copies.beside_kernel().empty());
  EXPECT_EQ(beside(kA), 0u);
}

TEST_F(CopiesBesideKernels, OfManyTheOldestAreLetGo) {
  for (memory::Address i = 0; i < 100; ++i) put(kFree, 0x1000 * i);
  ASSERT_EQ(beside(kA), 64u);
  EXPECT_EQ(copies.beside_kernel().back().begin, 0x1000u * 99);
}

}  // namespace
}  // namespace lockstep::runtime
