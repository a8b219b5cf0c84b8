// Stores that are recorded only if somebody reads their allocation (state/deferred_stores.h): what
// is found is what is found where every access is recorded.
#include "simulator/engine/state/deferred_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/launch/certificate.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace deferred_stores_test {

using ::testing::IsEmpty;
using Proof = LaunchConfig::Proof;

constexpr std::uint32_t kBlocks = 24, kThreads = 128, kAll = kBlocks * kThreads;

// Thread i of the grid (%r1) has 16 bytes of y, at %rd6, and the address %rd10: x plus an offset
// that it has loaded. %p1: whether its lane is not 3.
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r1, %r3, %r4, %r2;
  mul.wide.u32 %rd4, %r1, 8;
  add.s64 %rd5, %rd1, %rd4;
  mul.wide.u32 %rd4, %r1, 16;
  add.s64 %rd6, %rd2, %rd4;
  ld.global.u64 %rd9, [%rd5];
  add.s64 %rd10, %rd1, %rd9;
  and.b32 %r5, %r2, 31;
  setp.ne.u32 %p1, %r5, 3;
)" + body +
         "  ret;\n}\n";
}
const std::string kStore = "st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1};\n",
                  kLoad = "ld.global.u32 %r10, [%rd10];\n", kBarrier = "bar.sync 0;\n";

// The thread whose bytes of y a thread reads; nullopt: it reads x.
using Reads = std::function<std::optional<std::uint32_t>(std::uint32_t thread)>;

struct Ran {
  std::string findings;
  bool races = false;
  bool is_recorded = false;  // a store to y
  std::vector<std::uint32_t> y;
};
Ran run(const std::string& body, const Reads& reads, Proof proof, int host_threads, bool go_on) {
  testing::Machine gpu;
  gpu.config.proof = proof;
  gpu.config.certified = [](const LaunchCertificate&) {};  // proves before the first launch
  gpu.config.closed = [] { return true; };
  gpu.config.host_threads = host_threads;
  gpu.config.go_on = go_on;
  gpu.load(kernel(body));
  const auto x = gpu.buffer(std::vector<std::uint64_t>(kAll), "x");
  const auto y = gpu.buffer(std::vector<std::uint32_t>(4 * kAll), "y");
  std::vector<std::uint64_t> offsets(kAll);
  for (std::uint32_t i = 0; i < kAll; ++i)
    if (const auto from = reads(i)) offsets[i] = y + *from * 16 - x;
  std::memcpy(gpu.memory.host(*gpu.memory.find(x), x), offsets.data(), 8 * kAll);
  const Outcome o = gpu.launch("k", kBlocks, kThreads, x, y);
  Ran r{testing::text(o), !o.findings.empty(), false, gpu.fetch<std::uint32_t>(y, 4 * kAll)};
  for (std::uint32_t i = 0; i < 4 * kAll; ++i)
    r.is_recorded |= *gpu.memory.race_shadow(y + 4 * std::uint64_t{i}) != 0;
  return r;
}

const std::pair<const char*, Reads> kReads[] = {
    {"nobody", [](std::uint32_t) { return std::nullopt; }},
    {"its own", [](std::uint32_t i) { return i; }},
    {"the next lane's", [](std::uint32_t i) { return i % 32 == 31 ? i : i + 1; }},
    {"lane 3's", [](std::uint32_t i) { return i / 32 * 32 + 3; }},
    {"the next warp's", [](std::uint32_t i) { return i % 128 >= 96 ? i - 96 : i + 32; }},
    {"the next block's", [](std::uint32_t i) { return (i + kThreads) % kAll; }},
    {"the last reads the first's",
     [](std::uint32_t i) { return i + 1 == kAll ? std::optional(5u) : std::nullopt; }},
    {"the first reads the last's",
     [](std::uint32_t i) { return i == 0 ? std::optional(kAll - 2) : std::nullopt; }},
};
const std::pair<const char*, std::string> kBodies[] = {
    {"store, load", kStore + kLoad},
    {"load, store", kLoad + kStore},
    {"store, barrier, load", kStore + kBarrier + kLoad},
    {"load, barrier, store", kLoad + kBarrier + kStore},
    {"store twice, load", kStore + kBarrier + kStore + kLoad},
    {"store, load own, barrier, load", kStore + "ld.global.u32 %r9, [%rd6];\n" + kBarrier + kLoad},
    {"store by some, load", "@%p1 " + kStore + kBarrier + kLoad},
    {"store words, load", "st.global.u32 [%rd6], %r1;\n" + kBarrier + kLoad},
    {"store, load by some", kStore + "@%p1 " + kLoad},
    {"store, change", kStore + "ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd6];\n" + kLoad +
                          "st.global.v4.u32 [%rd6], {%r12, %r13, %r14, %r11};\n"},
};

TEST(DeferredStores, FindingsAreThoseOfAFullSearch) {
  int races = 0;
  for (const auto& [body_name, body] : kBodies) {
    for (const auto& [reads_name, reads] : kReads) {
      for (const bool go_on : {false, true}) {
        SCOPED_TRACE(std::string(body_name) + "; " + reads_name + (go_on ? "; goes on" : ""));
        const Ran off = run(body, reads, Proof::kOff, 1, go_on),
                  on = run(body, reads, Proof::kOn, 1, go_on),
                  compared = run(body, reads, Proof::kCompare, 1, go_on);
        EXPECT_EQ(on.findings, off.findings);
        EXPECT_EQ(compared.findings, off.findings);
        EXPECT_EQ(on.y, off.y);
        races += on.races;
      }
    }
  }
  EXPECT_GT(races, 40) << "most of these race";
}

TEST(DeferredStores, RacesAreFoundByManyHostThreads) {
  for (const auto& [body_name, body] : kBodies) {
    for (const auto& [reads_name, reads] : kReads) {
      SCOPED_TRACE(std::string(body_name) + "; " + reads_name);
      const bool races = run(body, reads, Proof::kOff, 1, true).races;
      for (int round = 0; round < 3; ++round)
        EXPECT_EQ(run(body, reads, Proof::kOn, 4, true).races, races);
    }
  }
}

TEST(DeferredStores, AreRecordedOnceSomebodyReads) {
  for (const int host_threads : {1, 4}) {
    for (const char* const guard : {"", "@%p1 "}) {
      const std::string body = kLoad + guard + kStore;
      const Ran none = run(body, kReads[0].second, Proof::kOn, host_threads, false);
      EXPECT_THAT(none.findings, IsEmpty());
      EXPECT_FALSE(none.is_recorded) << guard;
      EXPECT_TRUE(run(body, kReads[1].second, Proof::kOn, host_threads, false).is_recorded);
      EXPECT_TRUE(run(body, kReads[0].second, Proof::kOff, host_threads, false).is_recorded);
    }
  }
}

// A row joins the one before only if it is the same store by the next warp, right behind.
TEST(DeferredStores, AreRecordedAsTheyWereListed) {
  using Row = DeferredStores::Row;
  const Row row{{.block = 1, .pc = 7}, 4096, ~0u, 4},
      next{{.block = 1, .pc = 7, .warp = 1}, 4096 + 128, ~0u, 4};
  Row of_other_lanes = next, of_another_size = next, elsewhere = next, of_another_block = next,
      of_another_warp = next;
  of_other_lanes.lanes = 0xffff;
  of_another_size.size = 8;
  elsewhere.first += 4;
  of_another_block.by.block = 2;
  of_another_warp.by.warp = 2;
  for (const Row& second :
       {next, of_other_lanes, of_another_size, elsewhere, of_another_block, of_another_warp}) {
    DeferredStores stores({4096}, 0, {});
    stores.start(1);
    ASSERT_TRUE(stores.add(*stores.list(0), row));
    ASSERT_TRUE(stores.add(*stores.list(0), second));
    std::vector<Row> recorded;
    stores.record_all([&](const Row& r) { recorded.push_back(r); });
    ASSERT_EQ(recorded.size(), 2u);
    EXPECT_TRUE(recorded[0].by == row.by && recorded[1].by == second.by);
    EXPECT_EQ(recorded[0].first, row.first);
    EXPECT_EQ(recorded[1].first, second.first);
    EXPECT_EQ(recorded[0].lanes, row.lanes);
    EXPECT_EQ(recorded[1].lanes, second.lanes);
    EXPECT_EQ(recorded[1].size, second.size);
  }
}

}  // namespace deferred_stores_test
}  // namespace lockstep::engine
