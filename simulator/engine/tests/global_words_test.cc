// Loads and stores of global memory whose lanes go anywhere: rows, half rows, one place, scattered.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace global_words_test {

using testing::Machine;
using testing::text;

constexpr std::uint32_t kElements = 4096, kLanes = 32;
constexpr std::uint32_t kNone = 7777;

// Thread i of those in `lanes` loads the element that ends `offsets[i]` bytes behind the begin, and
// stores 5 i + 1 at the same place elsewhere. Others keep kNone. Before, thread 0 does so with the
// first element, so that the engine knows both allocations.
std::string kernel(std::uint32_t size) {
  return R"(
.visible .entry k(.param .u64 offsets, .param .u32 lanes, .param .u64 from, .param .u64 to,
                  .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [offsets];
  ld.param.u32 %r1, [lanes];
  ld.param.u64 %rd2, [from];
  ld.param.u64 %rd3, [to];
  ld.param.u64 %rd4, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd5, %r2, 8;
  add.s64 %rd1, %rd1, %rd5;
  add.s64 %rd4, %rd4, %rd5;
  setp.eq.u32 %p1, %r2, 0;
  mov.u64 %rd6, )" +
         std::to_string(size) + R"(;
  mad.lo.u32 %r4, %r2, 5, 1;
  cvt.u64.u32 %rd8, %r4;
  mov.u32 %r6, 0;
AGAIN:
  mov.u64 %rd7, 7777;
  add.s64 %rd10, %rd2, %rd6;
  add.s64 %rd11, %rd3, %rd6;
)" +
         (size == 4 ? R"(
  cvt.u32.u64 %r5, %rd7;
  @%p1 ld.global.u32 %r5, [%rd10+-4];
  @%p1 st.global.u32 [%rd11+-4], %r4;
  cvt.u64.u32 %rd7, %r5;
)"
                    : R"(
  @%p1 ld.global.u64 %rd7, [%rd10+-8];
  @%p1 st.global.u64 [%rd11+-8], %rd8;
)") + R"(
  st.global.u64 [%rd4], %rd7;
  shr.u32 %r3, %r1, %r2;
  and.b32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  ld.global.u64 %rd6, [%rd1];
  add.u32 %r6, %r6, 1;
  setp.eq.u32 %p2, %r6, 1;
  @%p2 bra AGAIN;
  ret;
}
)";
}

// For a lane: which element it accesses.
using Shape = std::function<std::uint32_t(std::uint32_t lane)>;
struct Done {
  std::vector<std::uint64_t> out, expected;
  std::string findings;
  std::vector<char> written, expected_written;  // by byte of what is stored
};

// `size`: 4 or 8. `offset`: a number of bytes that is added to each lane's place.
Done run(std::uint32_t size, const Shape& shape, std::uint32_t lanes, std::uint32_t checks,
         const std::function<std::int64_t(std::uint32_t)>& offset = {}, bool marked = false) {
  Machine gpu;
  gpu.config.checks = checks;
  gpu.load(kernel(size));
  std::vector<std::byte> bytes(std::size_t{kElements} * size);
  const auto element = [&](std::uint32_t i) { return (i + 1) * 0x01030507ull; };
  for (std::uint32_t i = 0; i < kElements; ++i) {
    const std::uint64_t v = element(i);
    std::memcpy(bytes.data() + std::size_t{i} * size, &v, size);
  }
  const auto from = gpu.buffer(bytes), to = gpu.unwritten(bytes.size());
  if (marked) gpu.memory.mark_written(to, bytes.size());
  std::vector<std::uint64_t> offsets(kLanes);
  Done r;
  r.expected.assign(kLanes, kNone);
  std::vector<std::uint64_t> stored(kElements);
  stored[0] = 1;
  r.expected_written.assign(bytes.size(), marked);
  for (std::uint32_t k = 0; k < size; ++k) r.expected_written[k] = true;
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    offsets[i] =
        std::uint64_t{shape(i) + 1} * size + static_cast<std::uint64_t>(offset ? offset(i) : 0);
    if ((lanes >> i & 1) == 0) continue;
    const std::uint64_t v = element(shape(i));
    r.expected[i] = size == 4 ? v & 0xffffffffu : v;
    stored[shape(i)] = 5 * i + 1;
    for (std::uint32_t k = 0; k < size; ++k) r.expected_written[shape(i) * size + k] = true;
  }
  const auto at = gpu.buffer(offsets), out = gpu.unwritten(8 * kLanes);
  const Outcome o = gpu.launch("k", 1, kLanes, at, lanes, from, to, out);
  r.findings = text(o);
  if (o.failed()) return r;
  r.out = gpu.fetch<std::uint64_t>(out, kLanes);
  const auto now = gpu.fetch<std::byte>(to, bytes.size());
  for (std::uint32_t i = 0; i < kElements; ++i) {
    std::uint64_t v = 0;
    std::memcpy(&v, now.data() + std::size_t{i} * size, size);
    if (stored[i] != 0) {
      EXPECT_EQ(v, stored[i]) << "element " << i;
    } else if (!marked) {
      EXPECT_EQ(v, 0u) << "element " << i;
    }
  }
  r.written.resize(bytes.size());
  for (std::size_t k = 0; k < bytes.size(); ++k) r.written[k] = gpu.memory.is_written(to + k, 1);
  return r;
}

const std::pair<const char*, Shape> kShapes[] = {
    {"a row", [](std::uint32_t i) { return i + 3; }},
    {"two half rows", [](std::uint32_t i) { return i / 16 * 256 + i % 16 + 8; }},
    {"four quarter rows", [](std::uint32_t i) { return i / 8 * 1000 + i % 8 + 5; }},
    {"a column", [](std::uint32_t i) { return 1 + i * 127; }},
    {"every second", [](std::uint32_t i) { return 2 * i + 1; }},
    {"backwards", [](std::uint32_t i) { return 100 - i; }},
    {"scattered", [](std::uint32_t i) { return 1 + (i * 2654435761u >> 7) % (kElements - 1); }},
    {"up to the end", [](std::uint32_t i) { return kElements - 1 - i * 7; }},
    {"from the second on", [](std::uint32_t i) { return 1 + i * 9; }},
};
constexpr std::uint32_t kLaneSets[] = {~0u,         0xffffu,     0xf0f0f0f0u,
                                       0x80000001u, 0x00010000u, 0xfffffffeu};
constexpr std::uint32_t kCheckSets[] = {0u, check::kBounds | check::kInitialisation,
                                        check::kAllChecks & ~check::kRaces, check::kAllChecks};

// Eight lanes at one place or in a row, and others.
const std::pair<const char*, Shape> kGroups[] = {
    {"one place", [](std::uint32_t) { return 5u; }},
    {"the last place", [](std::uint32_t) { return kElements - 1; }},
    {"two places", [](std::uint32_t i) { return i / 16 * 1000 + 7; }},
    {"four places", [](std::uint32_t i) { return i / 8 * 100 + 1; }},
    {"places and rows", [](std::uint32_t i) { return i / 8 % 2 == 0 ? 9 + i : i + 500; }},
    {"a row and places", [](std::uint32_t i) { return i < 8 ? i + 2000 : 40; }},
    {"a group that is scattered", [](std::uint32_t i) { return i / 8 == 2 ? 1 + i * 37 : 3; }},
    {"one of eight elsewhere", [](std::uint32_t i) { return i == 15 ? 2000u : 3; }},
    {"the first elsewhere", [](std::uint32_t i) { return i == 24 ? 2000u : 3; }},
};

// Of lanes that name one place, the last one's value stays: a race that is not searched for.
TEST(GlobalWords, GroupsAreLoadedStoredAndMarked) {
  for (const auto& [name, shape] : kGroups) {
    for (const std::uint32_t size : {4u, 8u}) {
      for (const std::uint32_t lanes : kLaneSets) {
        for (const std::uint32_t checks : {0u, check::kAllChecks & ~check::kRaces}) {
          SCOPED_TRACE(std::string(name) + ", " + std::to_string(size) + " bytes, lanes " +
                       std::to_string(lanes) + ", checks " + std::to_string(checks));
          const Done r = run(size, shape, lanes, checks);
          EXPECT_EQ(r.findings, "");
          EXPECT_EQ(r.out, r.expected);
          if (checks != 0) {
            EXPECT_EQ(r.written, r.expected_written);
          }
        }
      }
    }
  }
}

TEST(GlobalWords, AnUnwrittenByteOfAGroupIsReported) {
  for (const std::uint32_t size : {4u, 8u}) {
    for (const auto& [name, shape] : kGroups) {
      for (const std::uint32_t lane : {0u, 13u, 31u}) {
        SCOPED_TRACE(std::string(name) + ", lane " + std::to_string(lane));
        Machine gpu;
        gpu.config.checks = check::kAllChecks & ~check::kRaces;
        gpu.load(kernel(size));
        const auto from = gpu.buffer(std::vector<std::byte>(std::size_t{kElements} * size)),
                   to = gpu.unwritten(std::size_t{kElements} * size);
        gpu.memory.mark_unwritten(from + std::uint64_t{shape(lane)} * size + size - 1, 1);
        std::vector<std::uint64_t> offsets;
        for (std::uint32_t i = 0; i < kLanes; ++i)
          offsets.push_back(std::uint64_t{shape(i) + 1} * size);
        const auto out = gpu.unwritten(8 * kLanes);
        const Outcome o = gpu.launch("k", 1, kLanes, gpu.buffer(offsets), ~0u, from, to, out);
        EXPECT_FALSE(o.failed()) << text(o);
        for (std::uint32_t i = 0; i < kLanes; ++i)
          EXPECT_EQ(gpu.memory.is_written(out + 8 * i + size - 1, 1), shape(i) != shape(lane)) << i;
      }
    }
  }
}

TEST(GlobalWords, AreLoadedStoredAndMarked) {
  for (const auto& [name, shape] : kShapes) {
    for (const std::uint32_t size : {4u, 8u}) {
      for (const std::uint32_t lanes : kLaneSets) {
        for (const std::uint32_t checks : kCheckSets) {
          SCOPED_TRACE(std::string(name) + ", " + std::to_string(size) + " bytes, lanes " +
                       std::to_string(lanes) + ", checks " + std::to_string(checks));
          const Done r = run(size, shape, lanes, checks);
          EXPECT_EQ(r.findings, "");
          EXPECT_EQ(r.out, r.expected);
          if ((checks & check::kInitialisation) != 0) {
            EXPECT_EQ(r.written, r.expected_written);
          }
        }
      }
    }
  }
}

TEST(GlobalWords, StayMarked) {
  for (const auto& [name, shape] : kShapes) {
    SCOPED_TRACE(name);
    const Done r = run(4, shape, ~0u, check::kBounds | check::kInitialisation, {}, true);
    EXPECT_EQ(r.findings, "");
    EXPECT_EQ(r.written, r.expected_written);
  }
}

// One lane goes wrong: the same lanes are reported with the search for races, which looks at each.
TEST(GlobalWords, OneWrongLaneIsReported) {
  const std::pair<const char*, std::int64_t> wrong[] = {
      {"misaligned", 2},
      {"far behind the end", std::int64_t{1} << 33},
      {"before the beginning", -(std::int64_t{1} << 20)},
      {"just behind the end", -1},
      {"just before the beginning", -2}};
  for (const auto& [name, bytes] : wrong) {
    for (const auto& [shape_name, shape] : kShapes) {
      for (const std::uint32_t size : {4u, 8u}) {
        for (const std::uint32_t lane : {0u, 13u, 31u}) {
          SCOPED_TRACE(std::string(name) + ", " + shape_name + ", lane " + std::to_string(lane));
          const auto offset = [&, of_wrong = bytes](std::uint32_t i) -> std::int64_t {
            if (i != lane) return 0;
            const auto end = static_cast<std::int64_t>(kElements) * size,
                       here = static_cast<std::int64_t>(shape(i)) * size;
            return of_wrong == -1   ? end - here
                   : of_wrong == -2 ? -std::int64_t{size} - here
                                    : of_wrong;
          };
          const std::string plain =
              run(size, shape, ~0u, check::kAllChecks & ~check::kRaces, offset).findings;
          EXPECT_NE(plain.find("thread (" + std::to_string(lane) + ",0,0)"), plain.npos) << plain;
          EXPECT_EQ(plain, run(size, shape, ~0u, check::kAllChecks, offset).findings);
        }
      }
    }
  }
}

// A lane that is left out may go anywhere.
TEST(GlobalWords, InactiveLanesGoAnywhere) {
  for (const std::uint32_t lanes : kLaneSets) {
    for (const std::uint32_t size : {4u, 8u}) {
      const auto offset = [lanes = lanes](std::uint32_t i) -> std::int64_t {
        return lanes >> i & 1 ? 0 : (std::int64_t{1} << 40) + 1;
      };
      const Done r =
          run(size, kShapes[3].second, lanes, check::kAllChecks & ~check::kRaces, offset);
      EXPECT_EQ(r.findings, "");
      EXPECT_EQ(r.out, r.expected);
    }
  }
}

// Loads elements. One byte of one element is unwritten, near the others or far from them.
TEST(GlobalWords, OneUnwrittenByteIsReported) {
  for (const std::uint32_t size : {4u, 8u}) {
    for (const auto& [name, shape] : kShapes) {
      for (const std::uint32_t lane : {0u, 13u, 31u}) {
        for (const bool reads_it : {true, false}) {
          SCOPED_TRACE(std::string(name) + ", lane " + std::to_string(lane));
          Machine gpu;
          gpu.config.checks = check::kAllChecks & ~check::kRaces;
          gpu.load(kernel(size));
          const auto from = gpu.buffer(std::vector<std::byte>(std::size_t{kElements} * size)),
                     to = gpu.unwritten(std::size_t{kElements} * size);
          gpu.memory.mark_unwritten(from + std::uint64_t{shape(lane)} * size + size - 1, 1);
          std::vector<std::uint64_t> offsets;
          for (std::uint32_t i = 0; i < kLanes; ++i)
            offsets.push_back(std::uint64_t{shape(i) + 1} * size);
          const std::uint32_t lanes = reads_it ? ~0u : ~(1u << lane);
          const auto out = gpu.unwritten(8 * kLanes);
          const Outcome o = gpu.launch("k", 1, kLanes, gpu.buffer(offsets), lanes, from, to, out);
          EXPECT_FALSE(o.failed()) << text(o);
          // The value is stored: the byte counts as unwritten from then on.
          EXPECT_EQ(gpu.memory.is_written(out + 8 * lane + size - 1, 1), !reads_it);
        }
      }
    }
  }
}

// Thread 40 stores `value` to the element of thread 7, after all have read theirs: by then the
// engine knows that every byte of the allocation is written. Then each reads its element again,
// `stride` elements from that of its neighbour, and adds to it.
std::string store_between(const std::string& value, int stride) {
  return R"(
.visible .entry k(.param .u64 x, .param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, )" +
         std::to_string(4 * stride) + R"(;
  add.s64 %rd4, %rd1, %rd3;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd5, %rd2, %rd3;
  mov.u32 %r7, 5;
  ld.global.u32 %r2, [%rd4];
  bar.sync 0;
  setp.eq.u32 %p1, %r1, 40;
  @%p1 st.global.u32 [%rd1+)" +
         std::to_string(7 * 4 * stride) + "], " + value + R"(;
  bar.sync 0;
  ld.global.u32 %r3, [%rd4];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd5], %r3;
  ret;
}
)";
}

TEST(GlobalWords, OneUnwrittenValueInMemoryThatWasWrittenAsAWholeIsReported) {
  for (const int stride : {1, 3}) {
    for (const std::uint32_t checks : {kCheckSets[2], kCheckSets[3]}) {
      for (const bool is_unwritten : {false, true}) {
        SCOPED_TRACE(std::to_string(stride) + " " + std::to_string(checks));
        Machine gpu;
        gpu.config.checks = checks;
        gpu.load(store_between(is_unwritten ? "%r8" : "%r7", stride));
        const auto x = gpu.buffer(std::vector<std::uint32_t>(64 * 3, 1));
        const auto out = gpu.buffer(std::vector<std::uint32_t>(64));
        for (int launch = 0; launch < 2; ++launch) {
          const Outcome o = gpu.launch("k", 1, 64, x, out);
          ASSERT_EQ(o.findings.size(), is_unwritten ? 1u : 0u) << text(o);
          if (!is_unwritten) continue;
          EXPECT_EQ(o.findings[0].kind, check::Kind::kUninitialised);
          EXPECT_EQ(o.findings[0].access.thread.x, 7u);
          EXPECT_FALSE(gpu.memory.is_written(x + 7u * 4 * static_cast<unsigned>(stride), 4));
        }
      }
    }
  }
}

}  // namespace global_words_test
}  // namespace lockstep::engine
