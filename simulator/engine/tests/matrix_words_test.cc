// wmma accesses a register of neighbouring elements in global memory at once, after the instruction
// has accessed that allocation before. Its behaviour must not change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace matrix_words_test {

using check::Kind;
using testing::Machine;

constexpr std::uint64_t kMatrix = 512;  // bytes of 16 x 16 elements of f16

// Loads the matrix at x, then by the same instruction the following matrix. Each lane stores its
// registers of both matrices to y.
const std::string kLoadTwice = R"(
.visible .entry k(.param .u64 x, .param .u64 y)
{
.reg .pred %p<3>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r9, %tid.x;
mad.wide.u32 %rd2, %r9, 32, %rd2;
mov.u32 %r10, 0;
AGAIN:
wmma.load.a.sync.aligned.row.m16n16k16.global.f16
  {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], 16;
st.global.v4.b32 [%rd2], {%r1, %r2, %r3, %r4};
st.global.v4.b32 [%rd2+16], {%r5, %r6, %r7, %r8};
add.u64 %rd1, %rd1, 512;
add.u64 %rd2, %rd2, 1024;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p1, %r10, 2;
@%p1 bra AGAIN;
ret;
}
)";

class MatrixWords : public ::testing::Test {
 protected:
  MatrixWords() {
    gpu.load(kLoadTwice);
    y = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(512));
  }
  // Two equal matrices in an allocation of `bytes` bytes.
  memory::Address two_matrices(std::uint64_t bytes = 2 * kMatrix) {
    std::vector<std::uint16_t> values;
    for (std::uint64_t i = 0; i < bytes / 2; ++i)
      values.push_back(static_cast<std::uint16_t>(i % (kMatrix / 2)));
    return gpu.buffer<std::uint16_t>(values, "x");
  }

  Machine gpu;
  memory::Address y = 0;
};

// Without the search for races the second matrix is loaded at once.
constexpr std::uint32_t kNoRaces = check::kAllChecks & ~check::kRaces;
constexpr std::pair<std::uint64_t, std::uint32_t> kMatricesAndChecks[] = {
    {0, check::kAllChecks}, {1, check::kAllChecks}, {0, kNoRaces}, {1, kNoRaces}};

TEST_F(MatrixWords, RegistersAreTheSameWhetherMovedByWordsOrByElements) {
  EXPECT_TRUE(gpu.launch("k", 1, 32, two_matrices(), y).findings.empty());
  const auto got = gpu.fetch<std::uint32_t>(y, 512);
  const std::vector<std::uint32_t> by_elements(got.begin(), got.begin() + 256),
      by_words(got.begin() + 256, got.end());
  EXPECT_EQ(by_words, by_elements);
  EXPECT_EQ(by_elements[0], 1u << 16);
}

TEST_F(MatrixWords, TheElementOutOfBoundsIsNamed) {
  const memory::Address x = two_matrices(2 * kMatrix - 2);
  const Outcome o = gpu.launch("k", 1, 32, x, y);
  ASSERT_EQ(o.findings.size(), 1u);
  EXPECT_EQ(o.findings[0].kind, Kind::kOutOfBounds);
  EXPECT_EQ(o.findings[0].access.address, x + 2 * kMatrix - 2);
  EXPECT_EQ(o.findings[0].access.size, 2u);
}

TEST_F(MatrixWords, OneElementThatNobodyWroteStaysUnwritten) {
  for (const auto& [matrix, checks] : kMatricesAndChecks) {
    gpu.config.checks = checks;
    const memory::Address x = gpu.unwritten(2 * kMatrix), missing = x + matrix * kMatrix + 2 * 5;
    gpu.memory.mark_written(x, missing - x);
    gpu.memory.mark_written(missing + 2, x + 2 * kMatrix - missing - 2);
    gpu.memory.mark_unwritten(y, 2048);
    // A copy of unwritten elements is no mistake. Two lanes hold, and store, each element of A.
    ASSERT_FALSE(gpu.launch("k", 1, 32, x, y).failed());
    for (const std::uint64_t half : {0, 1}) {
      std::uint64_t unwritten = 0;
      for (std::uint64_t at = 0; at < 1024; ++at)
        unwritten += !gpu.memory.is_written(y + half * 1024 + at, 1);
      EXPECT_EQ(unwritten, half == matrix ? 4u : 0u) << "matrix " << matrix << ", loaded " << half;
    }
  }
}

}  // namespace matrix_words_test
}  // namespace lockstep::engine
