// wmma.store to global memory where no races are searched for, after the instruction has accessed
// that allocation before: its behaviour is that of one that stores element by element.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace matrix_stores_test {

using check::Kind;
using testing::Machine;
using testing::text;

constexpr std::uint32_t kChecks[] = {0, check::kBounds | check::kInitialisation,
                                     check::kAllChecks & ~check::kRaces, check::kAllChecks};

struct Form {
  std::string name;  // of the matrix, with its element
  int registers, bits;
};
const Form kForms[] = {{"row.m16n16k16.global.f16", 4, 16}, {"col.m16n16k16.global.f16", 4, 16},
                       {"row.m16n16k16.global.s32", 8, 32}, {"col.m32n8k16.global.s32", 8, 32},
                       {"row.m8n32k16.global.f32", 8, 32},  {"col.m8n8k4.global.f64", 2, 64}};
constexpr std::uint64_t kStride = 32;       // elements
constexpr std::uint64_t kDistance = 16384;  // bytes from one matrix to the next

// Stores registers to the matrix at y, and then by the same instruction to the one behind it. Each
// lane's registers are numbered through.
std::string kernel(const Form& form) {
  std::string registers, numbers;
  for (int n = 0; n < form.registers; ++n) {
    const std::string r = "%v" + std::to_string(n);
    registers += (n == 0 ? "" : ", ") + r;
    numbers += "mad.lo.u32 %r2, %r1, 16, " + std::to_string(n) + ";\n" +
               (form.bits == 64 ? "cvt.u64.u32 " + r + ", %r2;\n" : "mov.b32 " + r + ", %r2;\n");
  }
  return ".visible .entry k(.param .u64 y)\n{\n.reg .pred %p<3>; .reg .b32 %r<9>; "
         ".reg .b64 %rd<8>; .reg .b" +
         std::to_string(form.bits == 64 ? 64 : 32) +
         " %v<8>;\nld.param.u64 %rd1, [y];\nmov.u32 %r1, %tid.x;\nmov.u32 %r3, 0;\n" + numbers +
         "AGAIN:\nwmma.store.d.sync.aligned." + form.name + " [%rd1], {" + registers + "}, " +
         std::to_string(kStride) + ";\nadd.u64 %rd1, %rd1, " + std::to_string(kDistance) +
         ";\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 2;\n@%p1 bra AGAIN;\nret;\n}\n";
}

TEST(MatrixStores, AreTheSameTwice) {
  for (const Form& form : kForms) {
    for (const std::uint32_t checks : kChecks) {
      SCOPED_TRACE(form.name + ", checks " + std::to_string(checks));
      Machine gpu;
      gpu.config.checks = checks;
      gpu.load(kernel(form));
      const memory::Address y = gpu.unwritten(2 * kDistance);
      EXPECT_EQ(text(gpu.launch("k", 1, 32, y)), "");
      const auto all = gpu.fetch<std::byte>(y, 2 * kDistance);
      const std::vector<std::byte> first(all.begin(), all.begin() + kDistance),
          second(all.begin() + kDistance, all.end());
      EXPECT_EQ(first, second);
      EXPECT_NE(first, std::vector<std::byte>(kDistance));
      if ((checks & check::kInitialisation) == 0) continue;
      std::size_t written = 0;
      for (std::size_t at = 0; at < kDistance; ++at) {
        const bool is_written = gpu.memory.is_written(y + at, 1);
        EXPECT_EQ(gpu.memory.is_written(y + kDistance + at, 1), is_written) << at;
        written += is_written;
      }
      EXPECT_EQ(written,
                32u * static_cast<std::size_t>(form.registers) * (form.bits == 64 ? 8 : 4));
    }
  }
}

TEST(MatrixStores, BehindTheEndAreReported) {
  const Form& form = kForms[2];
  const std::uint64_t bytes = (15 * kStride + 16) * 4;
  for (const std::uint32_t checks : kChecks) {
    if (checks == 0) continue;
    for (const std::uint64_t missing : {0, 4}) {
      Machine gpu;
      gpu.config.checks = checks;
      gpu.load(kernel(form));
      const memory::Address y = gpu.unwritten(kDistance + bytes - missing);
      const Outcome o = gpu.launch("k", 1, 32, y);
      ASSERT_EQ(o.findings.size(), missing == 0 ? 0u : 1u) << text(o);
      if (missing == 0) continue;
      EXPECT_EQ(o.findings[0].kind, Kind::kOutOfBounds);
      EXPECT_EQ(o.findings[0].access.address, y + kDistance + bytes - 4);
    }
  }
}

TEST(MatrixStores, ToConstantMemoryAreReported) {
  for (const std::uint32_t checks : kChecks) {
    if (checks == 0) continue;
    Machine gpu;
    gpu.config.checks = checks;
    gpu.load(kernel(kForms[0]));
    const memory::Address y =
        gpu.memory.allocate(2 * kDistance, 256, memory::Kind::kConstant, 0, "c")->base;
    const Outcome o = gpu.launch("k", 1, 32, y);
    ASSERT_EQ(o.findings.size(), 1u);
    EXPECT_EQ(o.findings[0].kind, Kind::kReadOnlyWrite);
  }
}

TEST(MatrixStores, UnwrittenRegistersStayUnwritten) {
  Machine gpu;
  gpu.config.checks = check::kBounds | check::kInitialisation;
  std::string text_of = kernel(kForms[0]);
  // One register comes from unwritten memory.
  text_of.replace(text_of.find("AGAIN:"), 6, "ld.global.b32 %v2, [%rd1+8192];\nAGAIN:");
  gpu.load(text_of);
  const memory::Address y = gpu.unwritten(2 * kDistance);
  EXPECT_FALSE(gpu.launch("k", 1, 32, y).failed());
  std::size_t written = 0;
  for (std::size_t at = 0; at < 2 * kDistance; ++at) written += gpu.memory.is_written(y + at, 1);
  EXPECT_EQ(written, 2u * 32 * 3 * 4);
}

}  // namespace matrix_stores_test
}  // namespace lockstep::engine
