// An aligned access of one lane of up to 16 bytes is single-copy atomic: other host threads never
// see or overwrite a part of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace vectors_test {

using testing::Machine;
using testing::text;

// Blocks store their number to all parts of the same 16 bytes and check that all parts hold the
// number of one block.
struct Form {
  const char* name;
  const char* store;  // to [d3]; r1, d2 and q0 hold the block's number once, twice and four times
  const char* load;   // from [d3] to d5 and d6
  bool strong = true;
};

constexpr Form kForms[] = {
    {"relaxed v2.u64", "st.relaxed.gpu.global.v2.u64 [d3], {d2, d2};",
     "ld.relaxed.gpu.global.v2.u64 {d5, d6}, [d3];"},
    {"volatile v4.u32", "st.volatile.global.v4.u32 [d3], {r1, r1, r1, r1};",
     "ld.volatile.global.v4.u32 {r4, r5, r6, r7}, [d3]; mov.b64 d5, {r4, r5}; mov.b64 d6, {r6, "
     "r7};"},
    {"release and acquire v2.b64", "st.release.gpu.global.v2.b64 [d3], {d2, d2};",
     "ld.acquire.gpu.global.v2.b64 {d5, d6}, [d3];"},
    {"b128 exchanged", "atom.global.exch.b128 q1, [d3], q0;",
     "ld.relaxed.gpu.global.v2.u64 {d5, d6}, [d3];"},
    {"generic addresses", "st.relaxed.gpu.v2.u64 [d3], {d2, d2};",
     "ld.relaxed.gpu.v2.u64 {d5, d6}, [d3];"},
    {"weak v4.u32", "st.global.v4.u32 [d3], {r1, r1, r1, r1};",
     "ld.global.v4.u32 {r4, r5, r6, r7}, [d3]; mov.b64 d5, {r4, r5}; mov.b64 d6, {r6, r7};", false},
    {"weak v2.f64", "st.global.v2.f64 [d3], {d2, d2};", "ld.global.v2.f64 {d5, d6}, [d3];", false},
    {"v2.u32, with the other half at rest", "st.relaxed.gpu.global.v2.u32 [d3], {r1, r1};",
     "ld.relaxed.gpu.global.v2.u32 {r4, r5}, [d3]; mov.b64 d5, {r4, r5}; mov.b64 d6, d5;"},
    {"v4.u16 in wider registers",
     "cvt.u16.u32 h0, r1; st.relaxed.gpu.global.v4.u16 [d3], {h0, h0, h0, h0};",
     "ld.relaxed.gpu.global.v4.u16 {r4, r5, r6, r7}, [d3]; mov.b64 d5, {r4, r5}; mov.b64 d6, {r6, "
     "r7};"},
    {"a copy to shared memory", "st.relaxed.gpu.global.v2.u64 [d3], {d2, d2};",
     "mov.u32 r9, s; mad.lo.u32 r9, r0, 32, r9; cp.async.cg.shared.global [r9], [d3], 16; "
     "cp.async.wait_all; ld.shared.v2.u64 {d5, d6}, [r9];",
     false},
    // The halves of 32 bytes are atomic separately.
    {"the second half of v4.u64", "st.global.v4.u64 [d3], {d2, d2, d2, d2};",
     "ld.global.v4.u64 {d7, d8, d5, d6}, [d3];", false},
    {"the first half of v8.u32", "st.global.v8.u32 [d3], {r1, r1, r1, r1, r1, r1, r1, r1};",
     "ld.global.v8.u32 {r4, r5, r6, r7, r11, r12, r13, r14}, [d3]; mov.b64 d5, {r4, r5}; mov.b64 "
     "d6, {r6, r7};",
     false},
};
// The participating lanes, and the places of their bytes.
constexpr const char* kLanes[] = {"setp.ge.u32 on, r0, 0;", "setp.eq.u32 on, r0, 7;",
                                  "and.b32 r3, r0, 1; setp.eq.u32 on, r3, 0;"};

std::string kernel(const Form& f, const char* lanes) {
  return R"(.version 9.0
.target sm_100
.address_size 64
.visible .entry k(.param .u64 cells, .param .u64 torn)
{
.shared .align 16 .b8 s[2048];
.reg .b16 h<4>; .reg .b32 r<16>; .reg .b64 d<16>; .reg .b128 q<4>; .reg .pred p, on;
ld.param.u64 d0, [cells];
ld.param.u64 d1, [torn];
mov.u32 r0, %tid.x;
mov.u32 r1, %ctaid.x;
mov.b64 d2, {r1, r1};
mov.b128 q0, {d2, d2};
mad.wide.u32 d3, r0, 32, d0;
)" + std::string(lanes) +
         R"(
@!on bra E;
mov.u32 r10, 0;
L:
)" + f.store +
         "\n" + f.load + R"(
mov.b64 {r4, r5}, d5;
mov.b64 {r6, r7}, d6;
setp.ne.u32 p, r4, r5;
setp.ne.or.u32 p, r5, r6, p;
setp.ne.or.u32 p, r6, r7, p;
@p red.global.add.u32 [d1], 1;
add.u32 r10, r10, 1;
setp.lt.u32 p, r10, 40;
@p bra L;
E:
ret;
}
)";
}

TEST(Vectors, AreWholeBetweenBlocks) {
  for (const Form& f : kForms) {
    for (const char* lanes : kLanes) {
      Machine gpu;
      gpu.config.host_threads = 4;
      gpu.load_text(kernel(f, lanes));
      for (const std::uint32_t checks : std::vector<std::uint32_t>{
               check::kAllChecks & ~check::kRaces, check::kNoChecks, check::kAllChecks}) {
        // With the race check, weak accesses have a race.
        if ((checks & check::kRaces) != 0 && !f.strong) continue;
        gpu.config.checks = checks;
        const auto cells = gpu.buffer<std::uint64_t>(std::vector<std::uint64_t>(64 * 4));
        const auto torn = gpu.buffer<std::uint32_t>({0});
        const Outcome o = gpu.launch("k", 16, 64, cells, torn);
        EXPECT_TRUE(o.findings.empty()) << f.name << "\n" << text(o);
        EXPECT_EQ(gpu.fetch<std::uint32_t>(torn, 1)[0], 0u)
            << "torn: " << f.name << ", " << lanes << " checks " << checks;
      }
    }
  }
}

// One thread stores while others add: each sum must start from the last stored value.
TEST(Vectors, ACompareAndSwapIsOneWithOrdinaryStores) {
  Machine gpu;
  gpu.config.host_threads = 4;
  gpu.config.checks = check::kNoChecks;
  gpu.load_text(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cell, .param .u64 torn)
{
.reg .b32 r<16>; .reg .b64 d<16>; .reg .b128 q<4>; .reg .pred p, writer, lost;
ld.param.u64 d0, [cell];
ld.param.u64 d1, [torn];
mov.u32 r1, %ctaid.x;
setp.eq.u32 writer, r1, 0;
mov.u32 r10, 0;
mov.u32 r2, 0;
selp.u32 r11, 10000, 2000, writer;
L:
@!writer bra C;
// More every time than the others can have added to.
mov.u64 d6, 1;
mov.b64 d7, {r2, r10};
st.relaxed.gpu.global.v2.u64 [d0], {d6, d7};
ld.relaxed.gpu.global.v2.u64 {d4, d5}, [d0];
setp.ne.u64 lost, d4, 1;
setp.lt.or.u64 lost, d5, d7, lost;
@lost red.global.add.u32 [d1], 1;
bra N;
C:
ld.relaxed.gpu.global.v2.u64 {d4, d5}, [d0];
mov.b128 q0, {d4, d5};
add.u64 d5, d5, 1000;
mov.b128 q1, {d4, d5};
atom.relaxed.gpu.global.cas.b128 q2, [d0], q0, q1;
N:
add.u32 r10, r10, 1;
setp.lt.u32 p, r10, r11;
@p bra L;
ret;
}
)");
  const auto cell = gpu.buffer<std::uint64_t>({1, 0});
  const auto torn = gpu.buffer<std::uint32_t>({0});
  // Enough warps for several host threads; one thread of each warp acts.
  const Outcome o = gpu.launch("k", Dim3{128, 1, 1}, Dim3{1, 1, 1}, cell, torn);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(torn, 1)[0], 0u);
}

}  // namespace vectors_test
}  // namespace lockstep::engine
