// st.async and red.async, within a block and between blocks of a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace async_store_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// Thread t of block r has eight words, 100 r + 3 t + n, at `tile`. `body` may use:
// - %r2: the address of the same words in the next block of the cluster;
// - %r3: the address of that block's mbarrier, which expects one arrival and `bytes` bytes;
// - w0 to w3 (pairs: v0, v1): the thread's own words.
//
// After `body` each block waits, and every thread stores its current eight words.
std::string kernel(const std::string& body, int bytes, bool waits = true) {
  return R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 16 .b8 tile[1024];
  .shared .align 8 .b64 object;
  .reg .pred %p<4>;
  .reg .b32 %r<20>, w<4>;
  .reg .f32 f0;
  .reg .b64 %rd<9>, v<2>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r10, %cluster_ctarank;
  mov.u32 %r11, %cluster_nctarank;
  mad.lo.u32 %r12, %r10, 100, 0;
  mad.lo.u32 %r12, %r1, 3, %r12;
  mov.u32 %r13, tile;
  mad.lo.u32 %r13, %r1, 32, %r13;
  add.u32 w0, %r12, 1; add.u32 w1, %r12, 2; add.u32 w2, %r12, 3;
  st.shared.v4.u32 [%r13], {%r12, w0, w1, w2};
  add.u32 w0, %r12, 4; add.u32 w1, %r12, 5; add.u32 w2, %r12, 6; add.u32 w3, %r12, 7;
  st.shared.v4.u32 [%r13+16], {w0, w1, w2, w3};
  add.u32 w0, %r12, 1000; add.u32 w1, %r12, 2000; add.u32 w2, %r12, 3000; add.u32 w3, %r12, 4000;
  mov.b64 v0, {w0, w1}; mov.b64 v1, {w2, w3}; mov.b32 f0, w0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [object], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive; barrier.cluster.wait;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd5, [object], )" +
         std::to_string(32 * bytes) + R"(;
  add.u32 %r14, %r10, 1;
  rem.u32 %r14, %r14, %r11;
  mapa.shared::cluster.u32 %r2, %r13, %r14;
  mov.u32 %r3, object;
  mapa.shared::cluster.u32 %r3, %r3, %r14;
)" + body +
         (waits ? R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [object], 0;
  @!%p2 bra WAIT;
)"
                : "") +
         R"(
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r13];
  ld.param.u64 %rd1, [out];
  mad.lo.u32 %r15, %r10, 32, %r1;
  mad.wide.u32 %rd2, %r15, 32, %rd1;
  st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r13+16];
  st.global.v4.u32 [%rd2+16], {%r4, %r5, %r6, %r7};
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}
)";
}

using Words = std::vector<std::uint32_t>;

// Applies the operation to `there`, the initial words of thread t of block r, with the registers of
// the sending thread.
using Change = std::function<void(Words& there, std::uint32_t w0)>;

void expect(const std::string& instruction, int bytes, const Change& change) {
  for (const std::uint32_t blocks : {1u, 2u}) {
    for (const std::uint64_t seed : {0u, 1u, 2u}) {
      Machine gpu;
      gpu.config.cluster = {blocks, 1, 1};
      gpu.config.schedule_seed = seed;
      gpu.load_text(kernel("  " + instruction + "\n", bytes));
      const auto out = gpu.unwritten(blocks * 32 * 32);
      const Outcome o = gpu.launch("k", blocks, 32, out);
      ASSERT_TRUE(o.findings.empty()) << instruction << text(o);
      const Words got = gpu.fetch<std::uint32_t>(out, blocks * 32 * 8);
      for (std::uint32_t n = 0; n < blocks * 32; ++n) {
        const std::uint32_t block = n / 32, thread = n % 32, from = (block + blocks - 1) % blocks;
        Words there;
        for (std::uint32_t i = 0; i < 8; ++i) there.push_back(100 * block + 3 * thread + i);
        change(there, 100 * from + 3 * thread + 1000);
        EXPECT_EQ(Words(got.begin() + 8 * n, got.begin() + 8 * n + 8), there)
            << instruction << " block " << block << " thread " << thread;
      }
    }
  }
}

constexpr const char* kStore = "st.async.shared::cluster.mbarrier::complete_tx::bytes";

JUDGES(AsyncStore, BytesComeWithThePhase,
       "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32",
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32",
       "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64",
       "st.async.mbarrier::complete_tx::bytes.u32");
TEST(AsyncStore, BytesComeWithThePhase) {
  const std::string store = kStore;
  for (const char* type : {"b32", "u32", "s32"}) {
    expect(store + "." + type + " [%r2+4], w0, [%r3];", 4,
           [](Words& there, std::uint32_t w0) { there[1] = w0; });
  }
  expect(store + ".f32 [%r2+4], f0, [%r3];", 4,
         [](Words& there, std::uint32_t w0) { there[1] = w0; });
  expect(store + ".v2.u32 [%r2+8], {w0, w1}, [%r3];", 8,
         [](Words& there, std::uint32_t w0) { there[2] = w0, there[3] = w0 + 1000; });
  expect(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r2+16], {w0, w1, w2, "
      "w3}, [%r3];",
      16, [](Words& there, std::uint32_t w0) {
        for (std::uint32_t i = 0; i < 4; ++i) there[4 + i] = w0 + 1000 * i;
      });
  expect(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%r2+16], {f0, f0, f0, "
      "f0}, [%r3];",
      16, [](Words& there, std::uint32_t w0) {
        for (std::uint32_t i = 0; i < 4; ++i) there[4 + i] = w0;
      });
  for (const char* type : {"b64", "u64", "s64"}) {
    expect(store + "." + type + " [%r2+8], v0, [%r3];", 8,
           [](Words& there, std::uint32_t w0) { there[2] = w0, there[3] = w0 + 1000; });
  }
  expect(store + ".v2.b64 [%r2], {v0, v1}, [%r3];", 16, [](Words& there, std::uint32_t w0) {
    for (std::uint32_t i = 0; i < 4; ++i) there[i] = w0 + 1000 * i;
  });
  expect(store + ".b32 [%r2+4], {w0}, [%r3];", 4,
         [](Words& there, std::uint32_t w0) { there[1] = w0; });
  // The form with generic addresses.
  expect(
      "cvt.u64.u32 %rd3, %r2; cvta.shared::cluster.u64 %rd3, %rd3; cvt.u64.u32 %rd4, %r3; "
      "cvta.shared::cluster.u64 %rd4, %rd4;\n"
      "st.async.mbarrier::complete_tx::bytes.u32 [%rd3], w0, [%rd4];",
      4, [](Words& there, std::uint32_t w0) { there[0] = w0; });
}

constexpr const char* kReduce =
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";

JUDGES(AsyncStore, ReductionsCombine,
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32",
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32",
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32");
TEST(AsyncStore, ReductionsCombine) {
  using Two = std::function<std::uint32_t(std::uint32_t, std::uint32_t)>;
  const std::pair<const char*, Two> words[] = {
      {"add.u32", [](auto a, auto b) { return a + b; }},
      {"add.s32", [](auto a, auto b) { return a + b; }},
      {"min.u32", [](auto a, auto b) { return std::min(a, b); }},
      {"max.u32", [](auto a, auto b) { return std::max(a, b); }},
      {"min.s32",
       [](auto a, auto b) {
         return static_cast<std::uint32_t>(
             std::min(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
       }},
      {"max.s32",
       [](auto a, auto b) {
         return static_cast<std::uint32_t>(
             std::max(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
       }},
      {"inc.u32", [](auto a, auto b) { return a >= b ? 0 : a + 1; }},
      {"dec.u32", [](auto a, auto b) { return a == 0 || a > b ? b : a - 1; }},
      {"and.b32", [](auto a, auto b) { return a & b; }},
      {"or.b32", [](auto a, auto b) { return a | b; }},
      {"xor.b32", [](auto a, auto b) { return a ^ b; }}};
  for (const auto& [operation, two] : words) {
    expect(std::string(kReduce) + "." + operation + " [%r2+12], w0, [%r3];", 4,
           [two = two](Words& there, std::uint32_t w0) { there[3] = two(there[3], w0); });
  }
  for (const char* type : {"u64", "s64"}) {
    expect(std::string(kReduce) + ".add." + type + " [%r2+8], v0, [%r3];", 8,
           [](Words& there, std::uint32_t w0) {
             const std::uint64_t sum =
                 (std::uint64_t{there[3]} << 32 | there[2]) + (std::uint64_t{w0 + 1000} << 32 | w0);
             there[2] = static_cast<std::uint32_t>(sum),
             there[3] = static_cast<std::uint32_t>(sum >> 32);
           });
  }
}

Outcome run(const std::string& body, int bytes, bool waits) {
  Machine gpu;
  gpu.load_text(kernel(body, bytes, waits));
  return gpu.launch("k", 1, 32, gpu.unwritten(32 * 32));
}

// One thread with r0 = 7, d0 = 2^32 + 7 and h0 = 7; it has stored 2^40 + 5 to `out`.
std::uint64_t of_global(const std::string& instruction) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.load_text(R"(.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b16 h0; .reg .b32 r0; .reg .f32 f0; .reg .f64 e0; .reg .b64 d0, d1, d2;
  ld.param.u64 d1, [out];
  mov.u64 d2, 1099511627781;
  st.global.u64 [d1], d2;
  mov.u64 d0, 4294967303;
  mov.u32 r0, 7; mov.u16 h0, 7; mov.b32 f0, r0; mov.b64 e0, d0;
  )" + instruction +
                R"(
  ret;
}
)");
  const auto out = gpu.unwritten(8);
  const Outcome o = gpu.launch("k", 1, 1, out);
  EXPECT_TRUE(o.findings.empty()) << instruction << text(o);
  return gpu.fetch<std::uint64_t>(out, 1)[0];
}

JUDGES(AsyncStore, ToGlobalMemory, "st.async.release.gpu.u32 [a], b",
       "red.async.release.gpu.inc.u32 [a], b", "red.async.release.gpu.min.u32 [a], b",
       "red.async.release.gpu.add.u64 [a], b", "red.async.release.gpu.xor.b32 [a], b");
TEST(AsyncStore, ToGlobalMemory) {
  constexpr std::uint64_t kHigh = 1ull << 40, kWide = (1ull << 32) + 7;
  for (const char* words : {".release.gpu", ".mmio.release.sys.global"}) {
    const std::string store = std::string("st.async") + words,
                      reduce = "red.async" + store.substr(8);
    EXPECT_EQ(of_global(store + ".b16 [d1], h0;"), kHigh + 7);
    EXPECT_EQ(of_global(store + ".u32 [d1+4], r0;"), (7ull << 32) + 5);
    EXPECT_EQ(of_global(store + ".f32 [d1], f0;"), kHigh + 7);
    EXPECT_EQ(of_global(store + ".s64 [d1], d0;"), kWide);
    EXPECT_EQ(of_global(store + ".f64 [d1], e0;"), kWide);
    EXPECT_EQ(of_global(reduce + ".add.u64 [d1], d0;"), kHigh + 5 + kWide);
    EXPECT_EQ(of_global(reduce + ".add.s32 [d1], r0;"), kHigh + 12);
    EXPECT_EQ(of_global(reduce + ".min.u32 [d1], r0;"), kHigh + 5);
    EXPECT_EQ(of_global(reduce + ".max.s32 [d1], r0;"), kHigh + 7);
    EXPECT_EQ(of_global(reduce + ".inc.u32 [d1], r0;"), kHigh + 6);
    EXPECT_EQ(of_global(reduce + ".dec.u32 [d1], r0;"), kHigh + 4);
    EXPECT_EQ(of_global(reduce + ".and.b32 [d1], r0;"), kHigh + 5);
    EXPECT_EQ(of_global(reduce + ".or.b32 [d1], r0;"), kHigh + 7);
    EXPECT_EQ(of_global(reduce + ".xor.b32 [d1], r0;"), kHigh + 2);
  }
}

// Block 0 stores data and then a flag; block 1 waits for the flag and reads the data.
TEST(AsyncStore, ReleasesWhatCameBefore) {
  const std::string data = "st.global.u32 [d1], 9;\n",
                    flag = "st.async.release.gpu.global.u32 [d1+4], r0;\n";
  for (const bool released : {true, false}) {
    Machine gpu;
    gpu.config.compute_capability = 100;
    gpu.load_text(R"(.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred p; .reg .b32 r<4>; .reg .b64 d1;
  ld.param.u64 d1, [out];
  mov.u32 r0, 1;
  mov.u32 r1, %ctaid.x;
  setp.eq.u32 p, r1, 0;
  @!p bra WAIT;
)" + (released ? data + flag : flag + data) +
                  R"(
  ret;
WAIT:
  ld.acquire.gpu.global.u32 r2, [d1+4];
  setp.eq.u32 p, r2, 1;
  @!p bra WAIT;
  ld.global.u32 r3, [d1];
  ret;
}
)");
    const auto out = gpu.buffer(Words(2), "out");
    const Outcome o = gpu.launch("k", 2, 1, out);
    ASSERT_EQ(o.findings.empty(), released) << text(o);
    if (!released) {
      EXPECT_EQ(o.findings[0].kind, Kind::kRace);
    }
  }
}

TEST(AsyncStore, ReadingBeforeTheWaitIsFound) {
  const Outcome o = run(std::string("  ") + kStore + ".u32 [%r2], w0, [%r3];\n", 4, false);
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
}

TEST(AsyncStore, BytesThatNeverComeAreADeadlock) {
  const Outcome o = run(std::string("  ") + kStore + ".u32 [%r2], w0, [%r3];\n", 8, true);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kDeadlock);
}

TEST(AsyncStore, MisplacedOnesAreFound) {
  const std::pair<const char*, Kind> cases[] = {
      {".v4.u32 [%r2+8], {w0, w1, w2, w3}, [%r3];", Kind::kMisaligned},
      {".u32 [%r2+4096], w0, [%r3];", Kind::kOutOfBounds},
      {".u32 [%r2], w0, [%r2];", Kind::kMbarrierMisuse}};
  for (const auto& [rest, kind] : cases) {
    const Outcome o = run(std::string("  ") + kStore + rest + "\n", 4, true);
    ASSERT_FALSE(o.findings.empty()) << rest;
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
  }
}

}  // namespace async_store_test
}  // namespace lockstep::engine
