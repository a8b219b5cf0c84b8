// Sums of integers in global memory, and loads of one element by all lanes: where they may take a
// way of their own, they are what they are lane by lane.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace global_sums_test {

using check::Kind;
using testing::Machine;
using testing::text;

constexpr std::uint32_t kElements = 512, kLanes = 32;

// Threads of `lanes` execute `operation` on the element at `to` + offsets[i], with 5 i + 1 in
// %v1, and store %v2. The first time the offset is 0, so that the engine knows the allocation.
std::string kernel(std::uint32_t size, const std::string& operation) {
  const std::string bits = std::to_string(8 * size);
  return R"(
.visible .entry k(.param .u64 offsets, .param .u32 lanes, .param .u64 to, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<20>;
  .reg .b)" +
         bits + R"( %v<4>;
  ld.param.u64 %rd1, [offsets];
  ld.param.u32 %r1, [lanes];
  ld.param.u64 %rd2, [to];
  ld.param.u64 %rd4, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd5, %r2, 8;
  add.s64 %rd1, %rd1, %rd5;
  add.s64 %rd4, %rd4, %rd5;
  setp.eq.u32 %p1, %r2, 0;
  mov.u64 %rd6, 0;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
AGAIN:
  add.s64 %rd7, %rd2, %rd6;
  mov.b)" +
         bits + R"( %v2, 7;
  cvt.u)" +
         bits + R"(.u32 %v1, %r7;
  @%p1 )" +
         operation + R"(
  mad.lo.u32 %r7, %r2, 5, 1;
  shr.u32 %r3, %r1, %r2;
  and.b32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  ld.global.u64 %rd6, [%rd1];
  add.u32 %r6, %r6, 1;
  setp.eq.u32 %p2, %r6, 1;
  @%p2 bra AGAIN;
  cvt.u64.u)" +
         bits + R"( %rd8, %v2;
  st.global.u64 [%rd4], %rd8;
  ret;
}
)";
}

std::string type(std::uint32_t size) { return ".u" + std::to_string(8 * size); }
std::string atom(std::uint32_t size) {
  return "atom.global.add" + type(size) + " %v2, [%rd7], %v1;";
}
std::string atom_in_place(std::uint32_t size) {
  return "atom.global.add" + type(size) + " %v1, [%rd7], %v1;\n@%p1 mov.b" +
         std::to_string(8 * size) + " %v2, %v1;";
}
std::string red(std::uint32_t size) { return "red.global.add" + type(size) + " [%rd7], %v1;"; }
std::string load(std::uint32_t size) { return "ld.global" + type(size) + " %v2, [%rd7];"; }

using Offsets = std::function<std::int64_t(std::uint32_t)>;  // by lane
struct Done {
  Outcome outcome;
  std::vector<std::uint64_t> elements, out;
};
// Element e is 100 e; all are written up to `written` bytes.
Done run(std::uint32_t size, const std::string& operation, std::uint32_t lanes,
         std::uint32_t checks, const Offsets& offset, std::uint64_t written = ~0ull,
         std::uint32_t blocks = 1) {
  Machine gpu;
  gpu.config.checks = checks;
  gpu.load(kernel(size, operation));
  std::vector<std::byte> bytes(std::size_t{kElements} * size);
  for (std::uint64_t e = 0; e < kElements; ++e) {
    const std::uint64_t value = 100 * e;
    std::memcpy(bytes.data() + e * size, &value, size);
  }
  const memory::Address to = gpu.buffer(bytes, "to");
  if (written < bytes.size()) gpu.memory.mark_unwritten(to + written, bytes.size() - written);
  std::vector<std::uint64_t> offsets;
  for (std::uint32_t i = 0; i < kLanes; ++i)
    offsets.push_back(static_cast<std::uint64_t>(offset(i) * size));
  const memory::Address at = gpu.buffer(offsets), out = gpu.unwritten(8 * kLanes);
  Done d{gpu.launch("k", blocks, kLanes, at, lanes, to, out), {}, {}};
  if (d.outcome.failed()) return d;
  const auto now = gpu.fetch<std::byte>(to, bytes.size());
  for (std::uint64_t e = 0; e < kElements; ++e) {
    std::uint64_t value = 0;
    std::memcpy(&value, now.data() + e * size, size);
    d.elements.push_back(value);
  }
  d.out = gpu.fetch<std::uint64_t>(out, kLanes);
  return d;
}

const std::pair<const char*, Offsets> kShapes[] = {
    {"a row", [](std::uint32_t i) { return i + 3; }},
    {"one place", [](std::uint32_t) { return 5; }},
    {"two places", [](std::uint32_t i) { return i % 2 * 400 + 9; }},
    {"places of several lanes", [](std::uint32_t i) { return i * i % 7 * 50; }},
    {"scattered", [](std::uint32_t i) { return (i * 2654435761u >> 7) % kElements; }},
    {"up to the end", [](std::uint32_t i) { return kElements - 1 - i * 7; }},
};
constexpr std::uint32_t kLaneSets[] = {~0u, 0xffffu, 0xf0f0f0f0u, 0x80000001u, 0x00010000u};
constexpr std::uint32_t kCheckSets[] = {0u, check::kBounds | check::kInitialisation,
                                        check::kAllChecks & ~check::kRaces, check::kAllChecks};

TEST(GlobalSums, AreThoseOfLanesOneAfterAnother) {
  for (const auto& [name, shape] : kShapes) {
    for (const std::uint32_t size : {4u, 8u}) {
      for (const auto& [operation, returns] :
           {std::pair{atom(size), true}, {atom_in_place(size), true}, {red(size), false}}) {
        for (const std::uint32_t lanes : kLaneSets) {
          for (const std::uint32_t checks : kCheckSets) {
            SCOPED_TRACE(std::string(name) + ", " + operation + ", lanes " + std::to_string(lanes) +
                         ", checks " + std::to_string(checks));
            std::vector<std::uint64_t> elements, out(kLanes, 7);
            for (std::uint64_t e = 0; e < kElements; ++e) elements.push_back(100 * e);
            for (std::uint32_t i = 0; i < kLanes; ++i) {
              if ((lanes >> i & 1) == 0) continue;
              std::uint64_t& element = elements[static_cast<std::size_t>(shape(i))];
              if (returns) out[i] = element;
              element += 5 * i + 1;
            }
            const Done d = run(size, operation, lanes, checks, shape);
            EXPECT_EQ(text(d.outcome), "");
            EXPECT_EQ(d.elements, elements);
            EXPECT_EQ(d.out, out);
            EXPECT_EQ(d.outcome.counters.atomics, 2u);
          }
        }
      }
    }
  }
}

TEST(GlobalSums, OneWrongLaneIsReported) {
  for (const std::uint32_t size : {4u, 8u}) {
    for (const auto& [name, wrong] :
         {std::pair<const char*, std::int64_t>{"behind the end", kElements},
          {"before the beginning", -1},
          {"far away", std::int64_t{1} << 32}}) {
      for (const std::string& operation : {atom(size), red(size), load(size)}) {
        for (const std::uint32_t checks : {kCheckSets[1], kCheckSets[2], kCheckSets[3]}) {
          SCOPED_TRACE(std::string(name) + ", " + operation + std::to_string(checks));
          const Outcome o = run(size, operation, ~0u, checks, [&, w = wrong](std::uint32_t i) {
                              return i == 13 ? w : std::int64_t{4};
                            }).outcome;
          ASSERT_EQ(o.findings.size(), 1u);
          EXPECT_EQ(o.findings[0].kind, Kind::kOutOfBounds);
          EXPECT_EQ(o.findings[0].access.thread.x, 13u);
        }
      }
    }
  }
}

TEST(GlobalSums, UnwrittenMemoryIsReported) {
  for (const std::string& operation : {atom(4), red(4)}) {
    for (const std::uint32_t checks : {kCheckSets[1], kCheckSets[3]}) {
      for (const auto& [name, shape] : kShapes) {
        const auto last = [&, s = shape](std::uint32_t i) {
          return i == 20 ? std::int64_t{kElements - 1} : s(i) % (kElements - 1);
        };
        const Outcome o = run(4, operation, ~0u, checks, last, 4 * kElements - 1).outcome;
        ASSERT_EQ(o.findings.size(), 1u) << name;
        EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised);
      }
    }
  }
}

TEST(GlobalSums, AMisalignedOneIsReported) {
  // The second time, two bytes behind the element.
  const std::string behind =
      "shl.b32 %r8, %r6, 1;\ncvt.u64.u32 %rd9, %r8;\nadd.s64 %rd9, %rd9, %rd7;\n";
  const std::string operations[] = {behind + "@%p1 red.global.add.u32 [%rd9], 1;",
                                    behind + "@%p1 ld.global.u32 %v2, [%rd9];"};
  for (const std::string& operation : operations) {
    for (const std::uint32_t checks : kCheckSets) {
      const Outcome o = run(4, operation, ~0u, checks, [](std::uint32_t) { return 4; }).outcome;
      ASSERT_EQ(o.findings.size(), 1u) << operation;
      EXPECT_EQ(o.findings[0].kind, Kind::kMisaligned);
    }
  }
}

// One after the other by one instruction: in an array, and in memory that kernels may not write.
TEST(GlobalSums, ToConstantMemoryAreReported) {
  for (const std::uint32_t checks : {kCheckSets[1], kCheckSets[2], kCheckSets[3]}) {
    Machine gpu;
    gpu.config.checks = checks;
    gpu.load(
        ".visible .entry k(.param .u64 x, .param .u32 changes)\n{\n.reg .b32 %r<4>; .reg .b64 "
        "%rd<4>; .reg .pred %p<2>;\nld.param.u64 %rd1, [x];\nld.param.u32 %r1, [changes];\n"
        "ld.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 red.global.add.u32 [%rd1], "
        "1;\nret;\n}\n");
    const memory::Allocation* const c =
        gpu.memory.allocate(256, 256, memory::Kind::kConstant, 0, "c");
    gpu.memory.mark_written(c->base, 256);
    EXPECT_EQ(text(gpu.launch("k", 1, kLanes, c->base, 0u)), "");
    const Outcome o = gpu.launch("k", 1, kLanes, c->base, 1u);
    ASSERT_EQ(o.findings.size(), 1u);
    EXPECT_EQ(o.findings[0].kind, Kind::kReadOnlyWrite);
  }
}

// By the second sum, when the engine knows the memory.
TEST(GlobalSums, TheHostLearnsOfThoseThatItSees) {
  for (const auto kind : {memory::Kind::kPinned, memory::Kind::kManaged, memory::Kind::kDevice}) {
    Machine gpu;
    gpu.load(
        ".visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd1, [x];\nld.global.u32 %r2, [%rd1];\nred.global.add.u32 [%rd1+4], 1;\n"
        "ret;\n}\n");
    const memory::Address x = gpu.memory.allocate(256, 256, kind, 0, "x")->base;
    gpu.memory.mark_written(x, 256);
    EXPECT_EQ(gpu.launch("k", 1, kLanes, x).informed_host, kind != memory::Kind::kDevice);
  }
}

TEST(GlobalSums, AnElementIsLoadedForAllLanes) {
  for (const std::uint32_t size : {4u, 8u}) {
    for (const std::uint32_t checks : kCheckSets) {
      for (const std::uint32_t lanes : kLaneSets) {
        const Done d = run(size, load(size), lanes, checks, [](std::uint32_t) { return 511; });
        EXPECT_EQ(text(d.outcome), "");
        for (std::uint32_t i = 0; i < kLanes; ++i)
          EXPECT_EQ(d.out[i], (lanes >> i & 1) != 0 ? 51100u : 7u) << i;
      }
    }
  }
}

// The first lane and the last one go to one place.
TEST(GlobalSums, AnElementIsNotLoadedForOtherLanes) {
  for (const std::uint32_t checks : kCheckSets) {
    const Done d =
        run(4, load(4), ~0u, checks, [](std::uint32_t i) { return i == 17 ? 3 : std::int64_t{5}; });
    for (std::uint32_t i = 0; i < kLanes; ++i) EXPECT_EQ(d.out[i], i == 17 ? 300u : 500u);
  }
}

TEST(GlobalSums, AnUnwrittenElementOfAllLanesIsNoticed) {
  const std::string decides = load(4) + "\nsetp.eq.b32 %p3, %v2, 9;\n@%p3 bra AGAIN;";
  for (const std::uint32_t checks : {kCheckSets[1], kCheckSets[3]}) {
    const Outcome o =
        run(
            4, decides, ~0u, checks, [](std::uint32_t) { return 511; }, 4 * kElements - 1)
            .outcome;
    ASSERT_EQ(o.findings.size(), 1u);
    EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised);
  }
}

// Thread 0 of one block writes what all threads of the others read.
TEST(GlobalSums, AnElementThatAnotherThreadWritesRaces) {
  const std::string writes_too =
      load(4) +
      "\nmov.u32 %r8, %ctaid.x;\nor.b32 %r8, %r8, %r2;\nsetp.eq.u32 %p3, %r8, 0;\n"
      "@%p3 st.global.u32 [%rd2+20], 1;";
  for (const std::uint32_t blocks : {1u, 3u}) {
    const Outcome o =
        run(
            4, writes_too, ~0u, check::kAllChecks, [](std::uint32_t) { return 5; }, ~0ull, blocks)
            .outcome;
    ASSERT_FALSE(o.findings.empty()) << blocks;
    EXPECT_EQ(o.findings[0].kind, Kind::kRace);
  }
}

// By sums of an instruction that has added in this memory before.
TEST(GlobalSums, RaceWithOtherAccesses) {
  for (const std::string& sum : {atom(4), red(4)}) {
    for (const std::int64_t step : {0, 1}) {
      const std::string reads_too =
          sum + "\nsetp.eq.u32 %p3, %r2, 1;\n@%p3 ld.global.u32 %r8, [%rd2+20];";
      const Outcome o = run(4, reads_too, ~0u, check::kAllChecks, [&](std::uint32_t i) {
                          return 5 + i / 16 * step;
                        }).outcome;
      ASSERT_EQ(o.findings.size(), 1u) << sum;
      EXPECT_EQ(o.findings[0].kind, Kind::kRace);
    }
  }
}

}  // namespace global_sums_test
}  // namespace lockstep::engine
