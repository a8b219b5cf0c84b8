// Atomics of every type: memory afterwards and returned values, for single lanes and for lanes on
// one address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace atomics_test {

using check::Kind;
using testing::Machine;
using testing::text;

// Each thread executes `instruction` on its own 32 bytes at d0, with operands from d1, and stores
// the returned values to d2.
std::vector<std::uint32_t> perform(const std::string& instruction,
                                   const std::vector<std::uint32_t>& memory,
                                   const std::vector<std::uint32_t>& operand,
                                   std::vector<std::uint32_t>* returned = nullptr,
                                   bool shared = false) {
  Machine gpu;
  gpu.load_text(
      R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cells, .param .u64 operands, .param .u64 results)
{
.reg .b16 h<20>; .reg .b32 r<40>; .reg .b64 d<20>; .reg .b128 q<4>;
.shared .align 32 .b8 tile[1024];
ld.param.u64 d0, [cells];
ld.param.u64 d1, [operands];
ld.param.u64 d2, [results];
mov.u32 r0, %tid.x;
mad.wide.u32 d0, r0, 32, d0;
mad.wide.u32 d1, r0, 32, d1;
mad.wide.u32 d2, r0, 32, d2;
mov.u64 d4, tile;
mad.wide.u32 d4, r0, 32, d4;
ld.global.v4.b32 {r1, r2, r3, r4}, [d0];
st.shared.v4.b32 [d4], {r1, r2, r3, r4};
ld.global.v4.b32 {r11, r12, r13, r14}, [d1];
mov.b32 {h1, h2}, r11;
mov.b32 {h3, h4}, r12;
mov.b64 d11, {r11, r12};
mov.b64 d12, {r13, r14};
mov.b128 q1, {d11, d12};
ld.global.v4.b32 {r15, r16, r17, r18}, [d1+16];
mov.b64 d13, {r15, r16};
mov.b64 d14, {r17, r18};
mov.b128 q2, {d13, d14};
)" + instruction +
      R"(
st.global.v4.b32 [d2], {r21, r22, r23, r24};
)" +
      (shared
           ? "ld.shared.v4.b32 {r1, r2, r3, r4}, [d4];\nst.global.v4.b32 [d0], {r1, r2, r3, r4};\n"
           : "") +
      "ret;\n}\n");
  const std::size_t threads = memory.size() / 8;
  const auto cells = gpu.buffer<std::uint32_t>(memory),
             operands = gpu.buffer<std::uint32_t>(operand);
  const auto results = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(memory.size()));
  const Outcome o =
      gpu.launch("k", 1, static_cast<std::uint32_t>(threads), cells, operands, results);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  if (returned != nullptr) *returned = gpu.fetch<std::uint32_t>(results, memory.size());
  return gpu.fetch<std::uint32_t>(cells, memory.size());
}

// Clears r21 to r24, which some instructions do not write.
constexpr char kNone[] = "mov.b32 r21, 0;\nmov.b32 r22, 0;\nmov.b32 r23, 0;\nmov.b32 r24, 0;\n";

double half_value(std::uint16_t h, bool brain) {
  const int fraction_bits = brain ? 7 : 10, bias = brain ? 127 : 15, top = 2 * bias + 1;
  const int exponent = h >> fraction_bits & top, fraction = h & ((1 << fraction_bits) - 1);
  const double v = exponent == top ? (fraction ? NAN : INFINITY)
                                   : std::ldexp(exponent ? fraction | 1 << fraction_bits : fraction,
                                                (exponent ? exponent : 1) - bias - fraction_bits);
  return h & 0x8000 ? -v : v;
}
// Rounds to nearest even by searching all values of the format.
std::uint16_t half_nearest(double v, bool brain) {
  if (v != v) return 0x7fff;
  const std::uint16_t infinity = brain ? 0x7f80 : 0x7c00, sign = std::signbit(v) ? 0x8000 : 0;
  const double m = std::fabs(v);
  std::uint16_t low = 0, high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (half_value(middle, brain) <= m ? low : high) = middle;
  }
  // Infinity stands for the number after the largest finite one.
  const double below = half_value(low, brain),
               above = high == infinity
                           ? 2 * half_value(infinity - 1, brain) - half_value(infinity - 2, brain)
                           : half_value(high, brain);
  if (m == below) return sign | low;
  if (m == half_value(high, brain)) return sign | high;
  const bool up = m - below > above - m || (m - below == above - m && (low & 1));
  return sign | (up ? high : low);
}

const std::vector<std::uint16_t> kHalves = {
    0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00, 0x3c01, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3f80, 0xbf80, 0x7f80, 0x7f7f, 0xff7f, 0x0080, 0x007f,
    0x4200, 0xc2ab, 0x1234, 0x9234, 0x5555, 0xd555, 0x7fff, 0xffff, 0x2e66, 0x6400};

JUDGES(HalfAtomics, AddMinimumAndMaximumOfEveryElement, "atom.global.add.noftz.v4.f16x2");
TEST(HalfAtomics, AddMinimumAndMaximumOfEveryElement) {
  for (const bool brain : {false, true}) {
    for (const std::string op : {"add", "min", "max"}) {
      // Thread t: element e of its vector of eight is special value t, the operand is special value
      // t + 5 e.
      std::vector<std::uint32_t> memory(32 * 8), operand(32 * 8);
      auto put = [](std::vector<std::uint32_t>& v, std::size_t t, std::size_t e, std::uint16_t h) {
        reinterpret_cast<std::uint16_t*>(&v[t * 8])[e] = h;
      };
      auto get = [](const std::vector<std::uint32_t>& v, std::size_t t, std::size_t e) {
        return reinterpret_cast<const std::uint16_t*>(&v[t * 8])[e];
      };
      for (std::size_t t = 0; t < 32; ++t) {
        for (std::size_t e = 0; e < 8; ++e) {
          put(memory, t, e, kHalves[t]);
          put(operand, t, e, kHalves[(t + 5 * e + 1) % 32]);
        }
      }
      const std::string type = brain ? "bf16" : "f16";
      std::vector<std::uint32_t> returned;
      const auto after = perform("atom.global." + op + ".noftz.v4." + type +
                                     "x2 {r21, r22, r23, r24}, [d0], {r11, r12, r13, r14};",
                                 memory, operand, &returned);
      for (std::size_t t = 0; t < 32; ++t) {
        for (std::size_t e = 0; e < 8; ++e) {
          const std::uint16_t x = get(memory, t, e), y = get(operand, t, e);
          const double a = half_value(x, brain), b = half_value(y, brain);
          std::uint16_t expected;
          if (op == "add") {
            expected = half_nearest(a + b, brain);
          } else if (a != a || b != b) {
            expected = a == a ? x : b == b ? y : 0x7fff;
          } else {
            const bool first_less = a < b || (a == b && (x & 0x8000) > (y & 0x8000));
            expected = first_less == (op == "min") ? x : y;
          }
          EXPECT_EQ(get(after, t, e), expected)
              << op << " " << type << " of " << std::hex << x << " and " << y;
          EXPECT_EQ(get(returned, t, e), x);
        }
      }
    }
  }
}

JUDGES(HalfAtomics, SinglesPairsAndRedInEveryMemory, "atom.global.add.noftz.f16",
       "red.global.add.noftz.f16x2", "red.relaxed.gpu.global.add.noftz.v2.f16");
TEST(HalfAtomics, SinglesPairsAndRedInEveryMemory) {
  const std::vector<std::uint32_t> memory = {0x40003c00, 5, 6, 7, 0, 0, 0, 0},
                                   operand = {0x3c003c00, 0, 0, 0, 0, 0, 0, 0};
  std::vector<std::uint32_t> returned;
  const std::string none = kNone;
  auto after = perform(none + "atom.global.add.noftz.f16 h5, [d0], h1;\nmov.b32 r21, {h5, h5};",
                       memory, operand, &returned);
  EXPECT_EQ(after[0], 0x40004000u);
  EXPECT_EQ(returned[0], 0x3c003c00u);
  EXPECT_EQ(perform(none + "atom.add.noftz.f16x2 r21, [d0], r11;", memory, operand)[0],
            0x42004000u);
  EXPECT_EQ(perform(none + "red.global.add.noftz.f16x2 [d0], r11;", memory, operand)[0],
            0x42004000u);
  EXPECT_EQ(perform(none + "red.shared.add.noftz.f16 [d4], h1;", memory, operand, nullptr, true)[0],
            0x40004000u);
  EXPECT_EQ(perform(none + "atom.shared.add.noftz.f16x2 r21, [d4], r11;", memory, operand, nullptr,
                    true)[0],
            0x42004000u);
  EXPECT_EQ(
      perform(none + "red.relaxed.gpu.global.add.noftz.v2.f16 [d0], {h1, h2};", memory, operand)[0],
      0x42004000u);
}

// f32 additions in global memory flush subnormal operands and results to zeros of their sign; in
// shared memory they keep them (9.7.13.5). The values are those of an H100.
TEST(FloatAtomics, AddSubnormalNumbersInSharedMemoryAlone) {
  struct Sum {
    std::uint32_t memory, operand, in_global, in_shared;
  };
  const std::vector<Sum> sums = {// Normal operands with a subnormal sum.
                                 {0x00c00000, 0x80800000, 0x00000000, 0x00400000},
                                 {0x00800000, 0x80a00000, 0x80000000, 0x80200000},
                                 {0x80c00000, 0x00800000, 0x80000000, 0x80400000},
                                 {0x80c00000, 0x00a00000, 0x80000000, 0x80200000},
                                 // Subnormal operands with a normal sum, and with a subnormal sum.
                                 {0x00400000, 0x00400000, 0x00000000, 0x00800000},
                                 {0x00400000, 0x00200000, 0x00000000, 0x00600000},
                                 {0x00000001, 0x00000001, 0x00000000, 0x00000002},
                                 {0x80000001, 0x00000001, 0x00000000, 0x00000000},
                                 // One normal and one subnormal operand.
                                 {0x00800000, 0x80400000, 0x00800000, 0x00400000},
                                 {0x00c00000, 0x80400000, 0x00c00000, 0x00800000},
                                 {0x00800000, 0x00000001, 0x00800000, 0x00800001},
                                 {0x80000000, 0x80000001, 0x80000000, 0x80000001},
                                 // Zeros.
                                 {0x00000000, 0x80000000, 0x00000000, 0x00000000},
                                 {0x80000000, 0x80000000, 0x80000000, 0x80000000}};
  std::vector<std::uint32_t> memory(sums.size() * 8), operand(sums.size() * 8);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t e = 0; e < 4; ++e) {
      memory[i * 8 + e] = sums[i].memory;
      operand[i * 8 + e] = sums[i].operand;
    }
  }
  const auto expect = [&](const std::string& instruction, std::size_t elements, bool shared) {
    const auto left = perform(kNone + instruction, memory, operand, nullptr, shared);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (std::size_t e = 0; e < elements; ++e)
        EXPECT_EQ(left[i * 8 + e], shared ? sums[i].in_shared : sums[i].in_global)
            << instruction << " of pair " << i << ", element " << e;
    }
  };
  expect("atom.global.add.f32 r21, [d0], r11;", 1, false);
  expect("atom.add.f32 r21, [d0], r11;", 1, false);
  expect("red.global.add.f32 [d0], r11;", 1, false);
  expect("red.add.f32 [d0], r11;", 1, false);
  expect("atom.global.add.v4.f32 {r21, r22, r23, r24}, [d0], {r11, r12, r13, r14};", 4, false);
  expect("red.global.add.v2.f32 [d0], {r11, r12};", 2, false);
  expect("atom.shared.add.f32 r21, [d4], r11;", 1, true);
  expect("red.shared.add.f32 [d4], r11;", 1, true);
}

JUDGES(VectorAtomics, AddTwoOrFourNumbers, "atom.global.add.v4.f32", "red.global.add.v2.f32");
TEST(VectorAtomics, AddTwoOrFourNumbers) {
  const auto bits = [](float f) {
    std::uint32_t u;
    std::memcpy(&u, &f, 4);
    return u;
  };
  std::vector<std::uint32_t> memory, operand;
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 8; ++i)
      memory.push_back(bits(static_cast<float>(t * 8 + i))),
          operand.push_back(bits(0.25f * static_cast<float>(i)));
  }
  std::vector<std::uint32_t> returned;
  const auto four =
      perform("atom.global.add.v4.f32 {r21, r22, r23, r24}, [d0], {r11, r12, r13, r14};", memory,
              operand, &returned);
  const auto two =
      perform(std::string(kNone) + "red.global.add.v2.f32 [d0], {r12, r13};", memory, operand);
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<std::size_t>(t * 8 + i);
      EXPECT_EQ(four[at], bits(static_cast<float>(t * 8 + i) + 0.25f * static_cast<float>(i)));
      EXPECT_EQ(returned[at], memory[at]);
      EXPECT_EQ(two[at],
                i < 2 ? bits(static_cast<float>(t * 8 + i) + 0.25f * static_cast<float>(i + 1))
                      : memory[at]);
    }
  }
}

JUDGES(WideAtomics, ExchangeAndCompareSixteenBytes, "atom.global.exch.b128",
       "atom.global.cas.b128");
TEST(WideAtomics, ExchangeAndCompareSixteenBytes) {
  const std::vector<std::uint32_t> memory = {1, 2, 3, 4, 9, 9, 9, 9};
  std::vector<std::uint32_t> returned;
  const std::string unpack =
      "mov.b128 {d15, d16}, q3;\nmov.b64 {r21, r22}, d15;\nmov.b64 {r23, r24}, d16;";
  auto after = perform("atom.global.exch.b128 q3, [d0], q1;\n" + unpack, memory,
                       {11, 12, 13, 14, 0, 0, 0, 0}, &returned);
  EXPECT_EQ(after, (std::vector<std::uint32_t>{11, 12, 13, 14, 9, 9, 9, 9}));
  EXPECT_EQ(std::vector<std::uint32_t>(returned.begin(), returned.begin() + 4),
            (std::vector<std::uint32_t>{1, 2, 3, 4}));
  after = perform("atom.global.cas.b128 q3, [d0], q1, q2;\n" + unpack, memory,
                  {1, 2, 3, 4, 5, 6, 7, 8}, &returned);
  EXPECT_EQ(after, (std::vector<std::uint32_t>{5, 6, 7, 8, 9, 9, 9, 9}));
  after = perform("atom.global.cas.b128 q3, [d0], q1, q2;\n" + unpack, memory,
                  {1, 2, 3, 5, 5, 6, 7, 8}, &returned);
  EXPECT_EQ(after, memory);
}

// Many lanes, warps and blocks update few cells: no update is lost for any number of host threads.
TEST(Atomics, NoUpdateIsLost) {
  Machine gpu;
  gpu.config.host_threads = 4;
  gpu.load_text(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cells)
{
.reg .b32 r<8>; .reg .b64 d<8>; .reg .b128 q<4>; .reg .pred p;
ld.param.u64 d0, [cells];
mov.b32 r1, 0x00013c00;
red.global.add.noftz.f16x2 [d0], r1;
mov.f32 r2, 0f3f800000;
red.global.add.v2.f32 [d0+16], {r2, r2};
mov.b64 d1, 0;
mov.b64 d2, 1;
L: ld.volatile.global.v2.b64 {d3, d4}, [d0+32];
mov.b128 q0, {d3, d4};
add.u64 d5, d3, 1;
add.u64 d6, d4, 2;
mov.b128 q1, {d5, d6};
atom.global.cas.b128 q2, [d0+32], q0, q1;
mov.b128 {d5, d6}, q2;
setp.ne.u64 p, d5, d3;
@p bra L;
setp.ne.u64 p, d6, d4;
@p bra L;
ret;
}
)");
  const auto cells = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(16));
  gpu.config.checks =
      check::kAllChecks & ~check::kRaces;  // the volatile load races with the exchanges
  const Outcome o = gpu.launch("k", 16, 64, cells);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  const auto r = gpu.fetch<std::uint32_t>(cells, 16);
  EXPECT_EQ(r[0], 0x04006400u);  // 1024, and 1024 times the smallest subnormal
  EXPECT_EQ(r[4], 0x44800000u);
  EXPECT_EQ(r[5], 0x44800000u);
  EXPECT_EQ(r[8], 1024u);
  EXPECT_EQ(r[10], 2048u);
}

// Blocks that race read only values that were stored; the simulator itself has no data race.
TEST(GlobalMemory, BlocksThatRaceTearNoElement) {
  Machine gpu;
  gpu.config.host_threads = 4;
  gpu.config.checks = check::kAllChecks & ~check::kRaces;
  gpu.load_text(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cells, .param .u64 torn)
{
.reg .b16 h<8>; .reg .b32 r<16>; .reg .b64 d<16>; .reg .pred p, q, lane0;
ld.param.u64 d0, [cells];
ld.param.u64 d1, [torn];
mov.u32 r0, %tid.x;
mov.u32 r1, %ctaid.x;
setp.eq.u32 lane0, r0, 0;
mov.b64 d2, {r1, r1};
cvt.u16.u32 h0, r1;
mad.wide.u32 d3, r0, 8, d0;
mad.wide.u32 d4, r0, 2, d0;
mov.u32 r10, 0;
L:
st.global.u64 [d3], d2;                      // a row
ld.global.u64 d5, [d3];
mov.b64 {r2, r3}, d5;
setp.ne.u32 p, r2, r3;
@lane0 st.global.u64 [d3+256], d2;           // one lane
@lane0 ld.global.u64 d6, [d3+256];
@!lane0 mov.b64 d6, 0;
mov.b64 {r2, r3}, d6;
setp.ne.or.u32 p, r2, r3, p;
st.global.u16 [d4+512], h0;
ld.global.u16 h1, [d4+512];
st.global.v2.u32 [d3+768], {r1, r1};
ld.global.v2.u32 {r4, r5}, [d3+768];
ld.global.u64 d7, [d0+1536];                 // the same in all lanes
@lane0 st.global.u64 [d0+1536], d2;
mov.b64 {r2, r3}, d7;
setp.ne.or.u32 p, r2, r3, p;
@p red.global.add.u32 [d1], 1;
add.u32 r10, r10, 1;
setp.lt.u32 q, r10, 40;
@q bra L;
ret;
}
)");
  const auto cells = gpu.buffer<std::uint64_t>(std::vector<std::uint64_t>(256));
  const auto torn = gpu.buffer<std::uint32_t>({0});
  const Outcome o = gpu.launch("k", 64, 64, cells, torn);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(torn, 1)[0], 0u);
}

TEST(Atomics, AVectorMustBeAlignedAsAWhole) {
  Machine gpu;
  gpu.load_text(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cells)
{
.reg .b32 r<8>; .reg .b64 d<8>;
ld.param.u64 d0, [cells];
mov.b32 r1, 0;
red.global.add.v2.f32 [d0+4], {r1, r1};
ret;
}
)");
  const Outcome o =
      gpu.launch("k", 1, 1, gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(16)));
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kMisaligned);
}

// Some lanes of a warp add their numbers to eight sums, in the order of lanes; the register of what
// they add takes what they get back.
TEST(Atomics, SumsInSharedMemoryGoLaneByLane) {
  Machine gpu;
  gpu.config.host_threads = 1;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[32];
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  and.b32 %r3, %r1, 7;
  mad.lo.u32 %r3, %r3, 4, %r2;
  setp.lt.u32 %p1, %r1, 8;
  @%p1 st.shared.u32 [%r3], 100;
  bar.sync 0;
  add.u32 %r4, %r1, 1;
  and.b32 %r5, %r1, 3;
  setp.ne.u32 %p2, %r5, 2;
  @%p2 atom.shared.add.u32 %r4, [%r3], %r4;
  @%p2 red.shared.add.u32 [%r3], 1000;
  bar.sync 0;
  ld.shared.u32 %r6, [%r3];
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  st.global.u32 [%rd2], %r4;
  st.global.u32 [%rd2+96], %r6;
  ret;
}
)");
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(48));
  const Outcome o = gpu.launch("k", 1, 24, out);
  EXPECT_EQ(text(o), "");
  EXPECT_EQ(o.counters.atomics, 2u);
  std::vector<std::uint32_t> sums(8, 100), expected(48);
  for (std::uint32_t t = 0; t < 24; ++t)
    expected[t] = t % 4 == 2 ? t + 1 : std::exchange(sums[t % 8], sums[t % 8] + t + 1);
  for (std::uint32_t t = 0; t < 24; ++t) sums[t % 8] += t % 4 == 2 ? 0 : 1000;
  for (std::uint32_t t = 0; t < 24; ++t) expected[24 + t] = sums[t % 8];
  EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 48), expected);
}

}  // namespace atomics_test
}  // namespace lockstep::engine
