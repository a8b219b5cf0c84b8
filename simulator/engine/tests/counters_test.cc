// Sectors, cache lines and bank conflicts of a launch, counted exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace counters_test {

using testing::Machine;

TEST(Counters, SectorsAndBankConflictsAreExact) {
  Machine gpu;
  gpu.config.count = true;
  gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u32 stride)
{
  .shared .align 4 .b8 s[4096];
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [stride];
  mov.u32 %r2, %tid.x;
  mul.lo.u32 %r3, %r2, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
  shl.b32 %r5, %r3, 2;
  mov.u32 %r6, s;
  add.u32 %r6, %r6, %r5;
  st.shared.u32 [%r6], %r4;
  ret;
})");
  const auto x = gpu.buffer(std::vector<std::uint32_t>(1024, 1));
  const Counters one = gpu.launch("k", 1, 32, x, 1u).counters;
  EXPECT_EQ(one.global_load_requests, 1u);
  EXPECT_EQ(one.global_load_sectors, 4u);
  EXPECT_EQ(one.global_load_lines, 1u);
  EXPECT_EQ(one.shared_store_requests, 1u);
  EXPECT_EQ(one.shared_store_bank_conflicts, 0u);
  const Counters eight = gpu.launch("k", 1, 32, x, 8u).counters;
  EXPECT_EQ(eight.global_load_sectors, 32u);
  EXPECT_EQ(eight.global_load_lines, 8u);
  EXPECT_EQ(eight.shared_store_bank_conflicts, 7u);
  const Counters all = gpu.launch("k", 1, 32, x, 32u).counters;
  EXPECT_EQ(all.shared_store_bank_conflicts, 31u);
}

// The counters of sectors and lines must equal the sizes of sets of the accessed sectors and lines,
// for all addresses and active lanes.
TEST(Counters, SectorsAndLinesAgreeWithASet) {
  constexpr std::uint32_t kBytes = 1 << 14;
  Machine gpu;
  gpu.config.count = true;
  const auto x = gpu.buffer(std::vector<std::uint8_t>(kBytes, 1), "x");
  std::mt19937 random(1);
  std::set<std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const auto& [load, size] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"u8 %r2", 1},
                                                          {"u16 %r2", 2},
                                                          {"u32 %r2", 4},
                                                          {"v2.u32 {%r2, %r3}", 8},
                                                          {"v4.u32 {%r2, %r3, %r4, %r5}", 16}}) {
    gpu.load(R"(.visible .entry k(.param .u64 addresses, .param .u32 lanes)
{
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [addresses];
  ld.param.u32 %r6, [lanes];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 8, %rd1;
  ld.global.u64 %rd2, [%rd1];
  shr.u32 %r7, %r6, %r1;
  and.b32 %r7, %r7, 1;
  setp.ne.u32 %p1, %r7, 0;
  @%p1 ld.global.)" +
             load + ", [%rd2];\n  ret;\n}");
    for (int round = 0; round < 150; ++round) {
      // Random addresses, addresses from few places, or strides in both directions.
      const std::uint32_t places = kBytes / size, few = 1 + random() % 8, from = random() % places;
      const int kind = round % 5, step = static_cast<int>(random() % 40) - 20;
      std::vector<std::uint64_t> at(32);
      for (std::uint32_t i = 0; i < 32; ++i) {
        const std::uint32_t stepped = from + i * static_cast<std::uint32_t>(step);
        at[i] = x + (kind == 0   ? random()
                     : kind == 1 ? from + random() % few
                     : kind == 2 ? from + i / few
                                 : stepped) %
                        places * size;
      }
      const std::uint32_t lanes = kind == 4 ? ~0u : round % 7 == 0 ? 1u << random() % 32 : random();
      std::set<std::uint64_t> sectors, lines;
      for (std::uint32_t i = 0; i < 32; ++i) {
        if ((lanes >> i & 1) == 0) continue;
        for (const std::uint64_t byte : {at[i], at[i] + size - 1})
          sectors.insert(byte / 32), lines.insert(byte / 128);
      }
      const auto addresses = gpu.buffer(at, "addresses");
      const Counters c = gpu.launch("k", 1, 32, addresses, lanes).counters;
      // The load of the addresses themselves reads 256 bytes.
      ASSERT_EQ(c.global_load_sectors, 8 + sectors.size()) << load << ", round " << round;
      ASSERT_EQ(c.global_load_lines, (addresses % 128 == 0 ? 2 : 3) + lines.size())
          << load << ", round " << round;
      counts.insert({sectors.size(), lines.size()});
    }
  }
  EXPECT_GT(counts.size(), 60u);
}

// The counter of bank conflicts must equal the additional passes computed by sets of each bank's
// words: 32 lanes at a time, 16 for 8 bytes, 8 for 16 bytes.
TEST(Counters, BankConflictsAgreeWithSets) {
  constexpr std::uint32_t kBytes = 4096;
  Machine gpu;
  gpu.config.count = true;
  std::mt19937 random(1);
  std::set<std::uint64_t> counts;
  for (const auto& [load, size] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"u8 %r2", 1},
                                                          {"u32 %r2", 4},
                                                          {"v2.u32 {%r2, %r3}", 8},
                                                          {"v4.u32 {%r2, %r3, %r4, %r5}", 16}}) {
    gpu.load(R"(.visible .entry k(.param .u64 offsets, .param .u32 lanes)
{
  .shared .align 16 .b8 s[4096];
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [offsets];
  ld.param.u32 %r6, [lanes];
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, s;
  mad.lo.u32 %r8, %r1, 4, %r9;
  add.u32 %r10, %r9, 4096;
FILL:
  st.shared.u32 [%r8], %r1;
  add.u32 %r8, %r8, 128;
  setp.lt.u32 %p1, %r8, %r10;
  @%p1 bra FILL;
  bar.sync 0;
  mad.wide.u32 %rd1, %r1, 4, %rd1;
  ld.global.u32 %r8, [%rd1];
  add.u32 %r8, %r8, %r9;
  shr.u32 %r7, %r6, %r1;
  and.b32 %r7, %r7, 1;
  setp.ne.u32 %p1, %r7, 0;
  @%p1 ld.shared.)" +
             load + ", [%r8];\n  ret;\n}");
    for (int round = 0; round < 100; ++round) {
      // Random addresses, or few addresses in one bank or in some banks.
      const std::uint32_t places = kBytes / size, few = 1 + random() % 16,
                          step = round % 3 == 1 ? std::max(128 / size, 1u) : 1 + random() % 9;
      std::vector<std::uint32_t> at(32);
      for (std::uint32_t& a : at)
        a = (round % 3 == 0 ? random() : random() % few * step) % places * size;
      const std::uint32_t lanes = round % 4 == 0   ? ~0u
                                  : round % 7 == 0 ? 1u << random() % 32
                                                   : static_cast<std::uint32_t>(random());
      std::uint64_t conflicts = 0;
      const std::uint32_t a_pass = size <= 4 ? 32 : 128 / size;
      for (std::uint32_t first = 0; first < 32; first += a_pass) {
        std::set<std::uint32_t> words[32];
        std::size_t worst = 1;
        for (std::uint32_t i = first; i < first + a_pass; ++i) {
          if ((lanes >> i & 1) == 0) continue;
          for (std::uint32_t word = at[i] / 4; word <= (at[i] + size - 1) / 4; ++word) {
            words[word % 32].insert(word);
            worst = std::max(worst, words[word % 32].size());
          }
        }
        conflicts += worst - 1;
      }
      const auto offsets = gpu.buffer(at, "offsets");
      ASSERT_EQ(gpu.launch("k", 1, 32, offsets, lanes).counters.shared_load_bank_conflicts,
                conflicts)
          << load << ", round " << round;
      counts.insert(conflicts);
    }
  }
  EXPECT_GT(counts.size(), 12u);
}

}  // namespace counters_test
}  // namespace lockstep::engine
