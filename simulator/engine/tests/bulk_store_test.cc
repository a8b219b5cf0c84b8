// st.bulk: stores zeros to shared memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace bulk_store_test {

using check::Kind;
using testing::Machine;
using testing::text;

// One warp; lane 0 executes `body` on 1024 bytes of shared memory filled with 7 (d1: the generic
// address; s0 and s1: shared addresses); the bytes are then copied to `out`.
struct Result {
  Outcome outcome;
  std::vector<std::uint32_t> words;
};
Result run(const std::string& body, bool written = true) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  std::string text = R"(.version 9.0
.target sm_100
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b32 r<8>; .reg .b32 tid, s<2>; .reg .b64 d<8>; .reg .pred p<2>;
.shared .align 128 .b8 tile[1024];
mov.u32 tid, %tid.x;
setp.eq.u32 p0, tid, 0;
ld.param.u64 d0, [out];
mad.wide.u32 d0, tid, 32, d0;
mov.u32 s0, tile;
cvt.u64.u32 d1, s0;
cvta.shared.u64 d1, d1;
mad.lo.u32 s1, tid, 32, s0;
mov.b32 r0, 7;
)";
  if (written)
    text +=
        "st.shared.v4.b32 [s1], {r0, r0, r0, r0};\nst.shared.v4.b32 [s1+16], {r0, r0, r0, r0};\n";
  text += "bar.warp.sync 0xffffffff;\n" + body +
          "bar.warp.sync 0xffffffff;\nld.shared.v4.b32 {r0, r1, r2, r3}, [s1];\n"
          "ld.shared.v4.b32 {r4, r5, r6, r7}, [s1+16];\nadd.u32 r7, r7, 0;\n"
          "st.global.v4.b32 [d0], {r0, r1, r2, r3};\nst.global.v4.b32 [d0+16], {r4, r5, r6, r7};\n"
          "ret;\n}\n";
  gpu.load_text(text);
  const auto out = gpu.buffer(std::vector<std::uint32_t>(256), "out");
  Result r{gpu.launch("k", 1, 32, out), {}};
  r.words = gpu.fetch<std::uint32_t>(out, 256);
  return r;
}

JUDGES(BulkStore, ZerosSoManyBytes, "st.bulk.weak.shared::cta");
TEST(BulkStore, ZerosSoManyBytes) {
  for (const char* form : {"st.bulk.weak.shared::cta [s0+24]", "st.bulk.shared::cta [s0+24]",
                           "st.bulk.weak [d1+24]", "st.bulk [d1+24]"}) {
    for (const int size : {0, 8, 800}) {
      const Result r = run("mov.b64 d2, " + std::to_string(size) + ";\n@p0 " + form + ", d2, 0;\n");
      ASSERT_TRUE(r.outcome.findings.empty()) << form << text(r.outcome);
      for (int w = 0; w < 256; ++w)
        ASSERT_EQ(r.words[static_cast<std::size_t>(w)], 4 * w >= 24 && 4 * w < 24 + size ? 0u : 7u)
            << form << " " << size << " word " << w;
    }
  }
}

TEST(BulkStore, WhatItWritesIsWritten) {
  EXPECT_TRUE(run("@p0 st.bulk.shared::cta [s0], 1024, 0;\n", false).outcome.findings.empty());
  const Result r = run("@p0 st.bulk.shared::cta [s0], 1016, 0;\nmov.b32 r0, 0;\n", false);
  ASSERT_EQ(r.outcome.findings.size(), 1u);
  EXPECT_EQ(r.outcome.findings[0].kind, Kind::kUninitialised);
}

TEST(BulkStore, MistakesAreFound) {
  const auto kind = [](const std::string& body) {
    const Result r = run(body);
    return r.outcome.findings.empty() ? Kind::kDeadlock : r.outcome.findings[0].kind;
  };
  EXPECT_EQ(kind("@p0 st.bulk.shared::cta [s0], 12, 0;\n"), Kind::kInvalidInstruction);
  EXPECT_EQ(kind("@p0 st.bulk.shared::cta [s0+4], 16, 0;\n"), Kind::kMisaligned);
  EXPECT_EQ(kind("@p0 st.bulk.shared::cta [s0+8], 1024, 0;\n"), Kind::kOutOfBounds);
  EXPECT_EQ(kind("@p0 st.bulk [d0], 8, 0;\n"), Kind::kInvalidInstruction);
  EXPECT_EQ(kind("@p0 bra $over;\nld.shared.b32 r1, [s0];\nadd.u32 r0, r1, r0;\n$over:\n"
                 "@p0 st.bulk.shared::cta [s0], 8, 0;\n"),
            Kind::kRace);
}

}  // namespace bulk_store_test
}  // namespace lockstep::engine
