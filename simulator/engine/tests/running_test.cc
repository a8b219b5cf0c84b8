// Launches that are suspended and resumed, and launches that wait for one another.
#include "simulator/engine/launch/running.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/run/mutable_code.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace running_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;
using State = Running::State;

// A kernel of a and b, two flags, and data for each thread. r1: the thread; d1, d2: the flags; d4,
// d5: the thread's words of x and y.
std::string entry(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + R"((.param .u64 a, .param .u64 b, .param .u64 x, .param .u64 y)
{
.reg .pred p<8>; .reg .b32 r<16>; .reg .b64 d<12>;
ld.param.u64 d1, [a];
ld.param.u64 d2, [b];
ld.param.u64 d6, [x];
ld.param.u64 d7, [y];
mov.u32 r1, %tid.x;
mov.u32 r2, %ctaid.x;
mov.u32 r3, %ntid.x;
mad.lo.u32 r4, r2, r3, r1;
mul.wide.u32 d3, r4, 4;
add.s64 d4, d6, d3;
add.s64 d5, d7, d3;
setp.eq.u32 p0, r1, 0;
)" + body +
         "\nret;\n}\n";
}

// Every thread waits until the flag at `address` has the value.
std::string wait(const std::string& label, const std::string& address, int value,
                 const std::string& load = "ld.acquire.gpu.global.u32") {
  return label + ": " + load + " r5, [" + address + "];\nsetp.ne.u32 p1, r5, " +
         std::to_string(value) + ";\n@p1 bra " + label + ";\n";
}
// Thread 0 sets the flag after all threads of its block.
std::string set(const std::string& address, int value,
                const std::string& store = "st.release.gpu.global.u32") {
  return "bar.sync 0;\nmov.u32 r6, " + std::to_string(value) + ";\n@p0 " + store + " [" + address +
         "], r6;\n";
}

constexpr char kWriteX[] = "st.global.u32 [d4], r4;\n";
constexpr char kAddXToY[] =
    "ld.global.u32 r7, [d4];\nadd.u32 r7, r7, 100;\nst.global.u32 [d5], r7;\n";

class RunningTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kThreads = 64;

  void load(const std::vector<std::pair<std::string, std::string>>& kernels) {
    std::string all;
    for (const auto& [name, body] : kernels) all += entry(name, body);
    gpu.load(all);
    a = gpu.buffer<std::uint32_t>({0}, "a");
    b = gpu.buffer<std::uint32_t>({0}, "b");
    x = gpu.unwritten(4 * kThreads * 8, "x");
    y = gpu.unwritten(4 * kThreads * 8, "y");
  }

  // Starts a launch of `blocks` blocks in the stream of that number, unordered with other streams.
  std::unique_ptr<Running> begin(const std::string& name, std::uint32_t stream,
                                 std::uint32_t blocks = 1) {
    const Kernel* const kernel = gpu.module->find_kernel(name);
    LaunchConfig c = gpu.config;
    c.grid = {blocks, 1, 1};
    c.block = {kThreads, 1, 1};
    std::vector<std::byte> parameters(32);
    const memory::Address arguments[] = {a, b, x, y};
    std::memcpy(parameters.data(), arguments, sizeof arguments);
    c.parameters = parameters;
    if (sequences.size() <= stream) sequences.resize(stream + 1);
    std::vector<std::uint32_t> before = settled;
    before.resize(std::max(before.size(), stream + std::size_t{1}));
    before[stream] = ++sequences[stream];
    c.place = {.lane = stream,
               .sequence = sequences[stream],
               .before = before,
               .settled = settled,
               .stream = {StreamName::Kind::kCreated, stream, false},
               .several_streams = true};
    return std::make_unique<Running>(*kernel, c, gpu.memory);
  }

  void set_flag(memory::Address flag, std::uint32_t value) {
    std::memcpy(gpu.memory.host(*gpu.memory.find(flag), flag), &value, sizeof value);
  }

  // Advances the launches in turn until all are done. Returns whether that took at most `turns`
  // turns.
  static bool finish_all(const std::vector<Running*>& all, int turns = 20) {
    for (int turn = 0; turn < turns; ++turn) {
      bool done = true;
      for (Running* r : all) done = r->advance() == State::kDone && done;
      if (done) return true;
    }
    return false;
  }

  void expect_clean(Running& r) {
    const Outcome o = r.finish();
    EXPECT_TRUE(o.findings.empty()) << text(o);
  }

  Machine gpu;
  memory::Address a = 0, b = 0, x = 0, y = 0;
  std::vector<std::uint32_t> sequences;  // by stream
  std::vector<std::uint32_t> settled;    // by stream: operations that the host has waited for
};

TEST_F(RunningTest, IsDoneAtOnceWhereNothingWaits) {
  load({{"k", kWriteX}});
  const auto r = begin("k", 0, 4);
  EXPECT_EQ(r->advance(), State::kDone);
  const Outcome o = r->finish();
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_GT(o.counters.warp_instructions, 0u);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(x, kThreads * 4)[200], 200u);
}

TEST_F(RunningTest, StandsStillUntilTheHostSetsItsFlag) {
  load({{"k", wait("W", "d1", 1) + kWriteX}});
  const auto r = begin("k", 0);
  EXPECT_EQ(r->advance(), State::kStill);
  const std::uint64_t changes = r->changes();
  EXPECT_EQ(r->advance(), State::kStill) << "nothing has changed";
  EXPECT_EQ(r->changes(), changes);
  EXPECT_EQ(gpu.memory.find(x)->name, "x");
  set_flag(a, 1);
  EXPECT_EQ(r->advance(), State::kDone);
  EXPECT_GT(r->changes(), changes);
  expect_clean(*r);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(x, kThreads)[63], 63u);
}

TEST_F(RunningTest, TheConsumerMayBeginFirst) {
  for (const bool releases : {true, false}) {
    load({{"consume", wait("W", "d1", 1) + kAddXToY},
          {"produce", std::string(kWriteX) + set("d1", 1,
                                                 releases ? "st.release.gpu.global.u32"
                                                          : "st.relaxed.gpu.global.u32")}});
    const auto consumer = begin("consume", 0), producer = begin("produce", 1);
    EXPECT_EQ(consumer->advance(), State::kStill);
    EXPECT_EQ(producer->advance(), State::kDone);
    EXPECT_EQ(consumer->advance(), State::kDone);
    expect_clean(*producer);
    const Outcome o = consumer->finish();
    if (releases) {
      EXPECT_TRUE(o.findings.empty()) << text(o);
      EXPECT_EQ(gpu.fetch<std::uint32_t>(y, kThreads)[5], 105u);
    } else {
      ASSERT_FALSE(o.findings.empty());
      EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
      EXPECT_THAT(text(o), HasSubstr("produce in stream 1"));
    }
  }
}

// Two kernels wait for each other several times. Either all threads poll the flag, or thread 0
// polls and the others wait at a barrier.
std::string rounds(const std::string& mine, const std::string& others, bool first, bool all_look,
                   const std::string& work) {
  std::string body;
  for (int i = 1; i <= 4; ++i) {
    const std::string number = std::to_string(i);
    const std::string look = wait("W" + number, others, first ? i - 1 : i);
    body +=
        all_look ? look : "@!p0 bra B" + number + ";\n" + look + "B" + number + ": bar.sync 0;\n";
    body += work + set(mine, i);
  }
  return body;
}

TEST_F(RunningTest, TwoLaunchesThatWaitForEachOtherEnd) {
  const std::string add = "ld.global.u32 r7, [d4];\nadd.u32 r7, r7, 1;\nst.global.u32 [d4], r7;\n";
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    gpu.config.schedule_seed = seed;
    const bool all_look = seed == 0;  // records 64 times as many accesses
    load({{"ping", rounds("d1", "d2", true, all_look, add)},
          {"pong", rounds("d2", "d1", false, all_look, add)}});
    gpu.memory.mark_written(x, 4 * kThreads);
    std::memset(gpu.memory.host(*gpu.memory.find(x), x), 0, 4 * kThreads);
    const auto ping = begin("ping", 0), pong = begin("pong", 1);
    ASSERT_TRUE(finish_all({ping.get(), pong.get()}));
    expect_clean(*ping);
    expect_clean(*pong);
    EXPECT_EQ(gpu.fetch<std::uint32_t>(x, kThreads)[17], 8u);
  }
}

TEST_F(RunningTest, BlocksOnSeveralHostThreadsPauseTogether) {
  gpu.config.host_threads = 3;
  load({{"k", wait("W", "d1", 1) + kWriteX + wait("V", "d2", 1)}});
  const auto r = begin("k", 0, 8);
  ASSERT_EQ(r->advance(), State::kStill);
  set_flag(a, 1);
  ASSERT_EQ(r->advance(), State::kStill);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(x, kThreads * 8)[511], 511u);
  set_flag(b, 1);
  EXPECT_EQ(r->advance(), State::kDone);
  expect_clean(*r);
}

// Both launches hang; each is reported with its own line.
TEST_F(RunningTest, ADeadlockOfTwoIsReportedInEach) {
  load({{"first", wait("W", "d2", 1) + set("d1", 1)},
        {"second", wait("W", "d1", 1) + set("d2", 1)}});
  const auto first = begin("first", 0), second = begin("second", 1);
  EXPECT_FALSE(finish_all({first.get(), second.get()}));
  EXPECT_THAT(first->why_still().to_string(), HasSubstr("in kernel first"));
  first->fail("second waits, too");
  second->fail();
  const Outcome of_first = first->finish(), of_second = second->finish();
  ASSERT_EQ(of_first.findings.size(), 1u) << text(of_first);
  ASSERT_EQ(of_second.findings.size(), 1u) << text(of_second);
  EXPECT_EQ(of_first.findings[0].kind, Kind::kDeadlock);
  EXPECT_EQ(of_second.findings[0].kind, Kind::kDeadlock);
  EXPECT_THAT(text(of_first), HasSubstr("second waits, too"));
  EXPECT_THAT(text(of_second), HasSubstr("in kernel second"));
  EXPECT_NE(of_first.findings[0].access.site.ptx_line, of_second.findings[0].access.site.ptx_line);
}

// Slices of any length in any order: right results and no findings.
TEST_F(RunningTest, SlicesOfSeveralLaunchesInAnyOrder) {
  std::string loop =
      "mov.u32 r8, 0;\nmov.u32 r9, 0;\nL: add.u32 r9, r9, r8;\nadd.u32 r8, r8, 1;\n"
      "setp.lt.u32 p2, r8, 3000;\n@p2 bra L;\n";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    gpu.config.schedule_seed = seed;
    load({{"produce", loop + kWriteX + set("d1", 1)},
          {"consume", wait("W", "d1", 1) + kAddXToY + set("d2", 1)},
          {"last",
           loop + wait("W", "d2", 1) +
               "ld.global.u32 r7, [d5];\nadd.u32 r7, r7, 1000;\nst.global.u32 [d5], r7;\n"}});
    std::vector<std::unique_ptr<Running>> all;
    all.push_back(begin("last", 0));
    all.push_back(begin("consume", 1));
    all.push_back(begin("produce", 2));
    std::mt19937_64 random(seed);
    std::vector<bool> done(all.size());
    bool sliced = false;
    for (int turn = 0; turn < 1000 && done != std::vector<bool>{true, true, true}; ++turn) {
      const std::size_t i = random() % all.size();
      if (done[i]) continue;
      const State state = all[i]->advance(1 + random() % 4000);
      sliced |= state == State::kSliced;
      done[i] = state == State::kDone;
    }
    EXPECT_TRUE(sliced);
    ASSERT_EQ(done, (std::vector<bool>{true, true, true})) << "seed " << seed;
    for (const auto& r : all) expect_clean(*r);
    EXPECT_EQ(gpu.fetch<std::uint32_t>(y, kThreads)[9], 1109u);
  }
}

// Thread 0 changes b until a is set.
constexpr char kBeat[] =
    "@!p0 bra E;\nmov.u32 r8, 0;\nL: add.u32 r8, r8, 1;\nst.volatile.global.u32 [d2], r8;\n"
    "ld.volatile.global.u32 r5, [d1];\nsetp.eq.u32 p1, r5, 0;\n@p1 bra L;\nE:\n";

// Each launch begins anew: what an earlier one has done does not count.
TEST_F(RunningTest, ALaunchThatChangesMemoryWhileItWaitsIsSliced) {
  load({{"beat", kBeat}});
  for (std::uint32_t launch = 0; launch < 3; ++launch) {
    set_flag(a, 0);
    const auto r = begin("beat", launch);
    EXPECT_FALSE(r->polls());
    EXPECT_EQ(r->advance(10'000), State::kSliced);
    EXPECT_TRUE(r->polls());
    const std::uint32_t beats = gpu.fetch<std::uint32_t>(b, 1)[0];
    EXPECT_GT(beats, 64u);
    EXPECT_LT(beats, 10'000u);
    EXPECT_EQ(r->advance(10'000), State::kSliced);
    EXPECT_GT(gpu.fetch<std::uint32_t>(b, 1)[0], beats);
    EXPECT_FALSE(r->reads_host_flags());
    set_flag(a, 1);
    EXPECT_EQ(r->advance(10'000), State::kDone);
    expect_clean(*r);
    settled.assign(launch + 1, 1);
  }
}

TEST_F(RunningTest, ALaunchThatOnlyStoresIsSlicedAndDoesNotPoll) {
  load({{"k",
         "mov.u32 r8, 0;\nL: st.global.u32 [d4], r8;\nadd.u32 r8, r8, 1;\n"
         "setp.lt.u32 p2, r8, 20000;\n@p2 bra L;\n"}});
  const auto r = begin("k", 0);
  EXPECT_EQ(r->advance(10'000), State::kSliced);
  EXPECT_FALSE(r->polls());
  EXPECT_EQ(r->advance(), State::kDone);
  expect_clean(*r);
}

// However short the slice is: it ends only after a change.
TEST_F(RunningTest, ALaunchThatChangesNothingIsStillAndNotSliced) {
  load({{"k", wait("W", "d1", 1)}, {"beat", kBeat + wait("W", "d1", 2)}});
  EXPECT_EQ(begin("k", 0, 4)->advance(1), State::kStill);
  const auto r = begin("beat", 1);
  EXPECT_EQ(r->advance(1), State::kSliced);
  set_flag(a, 1);
  State state = State::kSliced;
  for (int slices = 0; state == State::kSliced && slices < 4; ++slices) state = r->advance(1);
  EXPECT_EQ(state, State::kStill);
  EXPECT_EQ(r->why_still().kind, Kind::kDeadlock);
}

// A block may run for many rounds before it lets others run, but not beyond the end of the slice.
TEST_F(RunningTest, ASliceEndsWithinATurnOfABlock) {
  load({{"beat", kBeat}});
  const auto r = begin("beat", 0);
  ASSERT_EQ(r->advance(1), State::kSliced);
  const std::uint32_t beats = gpu.fetch<std::uint32_t>(b, 1)[0];
  EXPECT_LT(beats, 5'000u);
}

// A race between two running launches must be found in either order.
TEST_F(RunningTest, ARaceWithOneThatIsStillUnderWayIsFound) {
  load({{"first", std::string(kWriteX) + wait("W", "d1", 1)},
        {"second",
         std::string("ld.global.u32 r7, [d4];\nst.global.u32 [d5], r7;\n") + set("d1", 1)}});
  const auto first = begin("first", 0), second = begin("second", 1);
  EXPECT_EQ(first->advance(), State::kStill);
  EXPECT_EQ(second->advance(), State::kDone);
  EXPECT_EQ(first->advance(), State::kStill) << "the finding has ended the second before its flag";
  set_flag(a, 1);
  EXPECT_EQ(first->advance(), State::kDone);
  expect_clean(*first);
  const Outcome o = second->finish();
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kRace);
  EXPECT_THAT(text(o), HasSubstr("first in stream 0"));
}

TEST_F(RunningTest, ARaceWithOneThatWasPutAsideIsFound) {
  load({{"first", wait("W", "d1", 1, "ld.relaxed.gpu.global.u32") + kWriteX},
        {"second", std::string(kWriteX) + set("d1", 1)}});
  const auto early = begin("first", 2), late = begin("second", 3);
  EXPECT_EQ(early->advance(), State::kStill);
  EXPECT_EQ(late->advance(), State::kDone);
  EXPECT_EQ(early->advance(), State::kDone);
  expect_clean(*late);
  const Outcome of_early = early->finish();
  ASSERT_EQ(of_early.findings.size(), 1u) << text(of_early);
  EXPECT_EQ(of_early.findings[0].kind, Kind::kRace) << text(of_early);
  EXPECT_THAT(text(of_early), HasSubstr("second in stream 3"));
}

TEST_F(RunningTest, ALaunchThatGoesOnIsStillSearchedForRacesOfItsOwn) {
  load({{"first", wait("W", "d1", 1) + "@p0 st.global.u32 [d7], r1;\nsetp.eq.u32 p3, r1, 32;\n"
                                       "@p3 st.global.u32 [d7], r1;\n"},
        {"second", std::string(kWriteX) + set("d1", 1)}});
  const auto first = begin("first", 0, 2), second = begin("second", 1);
  EXPECT_EQ(first->advance(), State::kStill);
  EXPECT_EQ(second->advance(), State::kDone);
  EXPECT_EQ(first->advance(), State::kDone);
  expect_clean(*second);
  const Outcome o = first->finish();
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
  EXPECT_THAT(text(o), ::testing::Not(HasSubstr("in stream")));
}

// An operation that is unordered with a suspended launch must be remembered, even if the host has
// waited for the operation meanwhile.
TEST_F(RunningTest, WhatTheHostHasWaitedForMayStillRaceWithALaunchUnderWay) {
  load({{"waits", wait("W", "d1", 1) + kWriteX},
        {"write", kWriteX},
        {"other", "st.global.u32 [d5], r4;\n"}});
  const auto write = begin("write", 1);
  EXPECT_EQ(write->advance(), State::kDone);
  expect_clean(*write);
  const auto waits = begin("waits", 0);
  EXPECT_EQ(waits->advance(), State::kStill);
  settled = {0, 1};
  const auto other = begin("other", 2);
  EXPECT_EQ(other->advance(), State::kDone);
  expect_clean(*other);
  set_flag(a, 1);
  EXPECT_EQ(waits->advance(), State::kDone);
  const Outcome o = waits->finish();
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kRace);
  EXPECT_THAT(text(o), HasSubstr("write in stream 1"));
}

// Records run out while a launch is suspended: it resumes with new records.
TEST_F(RunningTest, RecordsMayRunOutWhileALaunchWaits) {
  load({{"waits", std::string(kWriteX) + wait("W", "d1", 1) + kWriteX + kAddXToY},
        {"many",
         "mov.u32 r8, 0;\nL: st.global.u32 [d5], r8;\nbar.sync 0;\nadd.u32 r8, r8, 1;\n"
         "setp.lt.u32 p2, r8, 20000;\n@p2 bra L;\n"},
        {"read", kAddXToY}});
  for (const bool races : {false, true}) {
    set_flag(a, 0);
    const memory::Address mine = y, of_many = gpu.unwritten(4 * kThreads * 8, "of the many");
    y = of_many;
    // The suspended launch has high record numbers; the accesses it later conflicts with have low
    // ones.
    for (int i = 0; i < 3; ++i) EXPECT_EQ(begin("many", 1, 4)->advance(), State::kDone);
    settled = sequences;
    y = mine;
    const auto waits = begin("waits", 0);
    EXPECT_EQ(waits->advance(), State::kStill);
    bool began_anew = false;
    std::uint64_t last = gpu.memory.race_records();
    y = of_many;
    for (int i = 0; i < 100 && !began_anew; ++i) {
      const auto many = begin("many", 1, 4);
      began_anew = gpu.memory.race_records() < last;
      last = gpu.memory.race_records();
      EXPECT_EQ(many->advance(), State::kDone);
      last = gpu.memory.race_records();
      expect_clean(*many);
    }
    EXPECT_TRUE(began_anew);
    y = mine;
    set_flag(a, 1);
    std::unique_ptr<Running> read = begin("read", 2);
    if (races) {
      EXPECT_EQ(read->advance(), State::kDone);
    }
    EXPECT_EQ(waits->advance(), State::kDone);
    const Outcome o = waits->finish();
    EXPECT_EQ(o.failed(), races) << text(o);
    if (races) {
      EXPECT_THAT(text(o), HasSubstr("read in stream 2"));
    }
  }
}

// A flag orders earlier operations of its producer's stream before later ones of its consumer's.
TEST_F(RunningTest, AFlagOrdersTheStreamsOnBothOfItsSides) {
  for (const char* const store : {"st.release.gpu.global.u32", "st.relaxed.gpu.global.u32"}) {
    load({{"write", kWriteX},
          {"signal", set("d1", 1, store)},
          {"wait", wait("W", "d1", 1)},
          {"read", kAddXToY}});
    const auto waits = begin("wait", 0);
    EXPECT_EQ(waits->advance(), State::kStill);
    for (const char* const name : {"write", "signal"}) {
      const auto r = begin(name, 1);
      EXPECT_EQ(r->advance(), State::kDone);
      expect_clean(*r);
    }
    EXPECT_EQ(waits->advance(), State::kDone);
    expect_clean(*waits);
    const auto read = begin("read", 0);
    EXPECT_EQ(read->advance(), State::kDone);
    const Outcome o = read->finish();
    EXPECT_EQ(o.failed(), std::string_view(store).find("relaxed") != std::string_view::npos)
        << text(o);
    // The third stream is unordered.
    const auto third = begin("read", 2);
    EXPECT_EQ(third->advance(), State::kDone);
    EXPECT_TRUE(third->finish().failed());
  }
}

// The consumer itself reads data of a kernel before its producer.
TEST_F(RunningTest, AFlagOrdersTheKernelsBeforeItsProducer) {
  load({{"write", kWriteX},
        {"signal", set("d1", 1)},
        {"late", kWriteX},
        {"consume", wait("W", "d1", 1) + kAddXToY}});
  for (const bool late : {false, true}) {
    set_flag(a, 0);
    const auto consumer = begin("consume", 0);
    EXPECT_EQ(consumer->advance(), State::kStill);
    for (const char* const name : {"write", "signal", "late"}) {
      if (!late && name == std::string("late")) continue;
      const auto r = begin(name, 1);
      EXPECT_EQ(r->advance(), State::kDone);
      expect_clean(*r);
    }
    EXPECT_EQ(consumer->advance(), State::kDone);
    const Outcome o = consumer->finish();
    EXPECT_EQ(o.failed(), late) << text(o);
    settled = sequences;
  }
}

TEST_F(RunningTest, CoverageAndWhatRanAreOfEachLaunch) {
  load({{"k", wait("W", "d1", 1) + kWriteX}});
  Coverage coverage;
  std::vector<std::uint8_t> ran_first, ran_second;
  gpu.config.coverage = &coverage;
  gpu.config.ran = &ran_first;
  const auto first = begin("k", 0);
  gpu.config.ran = &ran_second;
  const auto second = begin("k", 0);
  EXPECT_EQ(first->advance(), State::kStill);
  EXPECT_EQ(second->advance(), State::kStill);
  EXPECT_EQ(ran_first, ran_second);
  const std::vector<std::uint8_t> before = ran_first;
  set_flag(a, 1);
  EXPECT_EQ(first->advance(), State::kDone);
  EXPECT_NE(ran_first, before);
  EXPECT_EQ(ran_second, before);
  EXPECT_EQ(second->advance(), State::kDone);
  EXPECT_EQ(ran_first, ran_second);
  const auto& program = static_cast<const LoadedModule&>(*gpu.module).program();
  EXPECT_EQ(coverage.operation(program.functions[0].entry).reached, 2u * kThreads);
}

TEST_F(RunningTest, CodeIsNotExchangedUnderALaunch) {
  const std::string body = entry("k", wait("W", "d1", 1)), whole = testing::module_text(body);
  gpu.load(body);
  const std::string_view views[] = {whole};
  const auto code = parse_again(views);
  a = gpu.buffer<std::uint32_t>({0}, "a");
  const auto mutants = code->mutants();
  ASSERT_FALSE(mutants.empty());
  std::string why;
  const auto mutant =
      code->prepare(mutants[0].place, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared, &why);
  ASSERT_NE(mutant, nullptr) << why;
  {
    const auto r = begin("k", 0);
    EXPECT_EQ(r->advance(), State::kStill);
    EXPECT_THROW(mutant->exchange(), std::logic_error);
  }
  mutant->exchange();
  mutant->exchange();
}

TEST_F(RunningTest, ALaunchThatIsGivenUpLeavesNothingBehind) {
  load({{"k", wait("W", "d1", 1) + kWriteX}, {"read", kAddXToY}, {"write", kWriteX}});
  const std::uint64_t before = gpu.memory.live().size();
  {
    gpu.config.cooperative = true;
    const auto given_up = begin("k", 0, 4), not_begun = begin("k", 1);
    EXPECT_EQ(given_up->advance(), State::kStill);
    EXPECT_EQ(gpu.memory.live().size(), before + 2) << "each has a barrier of its grid";
    gpu.config.cooperative = false;
  }
  EXPECT_EQ(gpu.memory.live().size(), before);
  const auto write = begin("write", 0);
  EXPECT_EQ(write->advance(), State::kDone);
  expect_clean(*write);
}

// Clusters and cooperative grids are suspended too: their blocks wait for one another and for the
// flag.
TEST_F(RunningTest, ClustersAndCooperativeGridsWait) {
  load({{"k", wait("W", "d1", 1) + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" + kWriteX +
                  wait("V", "d2", 1)},
        {"g", wait("W", "d1", 1) + kWriteX + wait("V", "d2", 1)}});
  gpu.config.cluster = {2, 1, 1};
  const auto clusters = begin("k", 0, 4);
  gpu.config.cluster = {1, 1, 1};
  gpu.config.cooperative = true;
  y = x;
  x = gpu.unwritten(4 * kThreads * 8, "of the grid");
  const auto grid = begin("g", 1, 4);
  EXPECT_EQ(clusters->advance(), State::kStill);
  EXPECT_EQ(grid->advance(), State::kStill);
  set_flag(a, 1);
  EXPECT_EQ(grid->advance(), State::kStill);
  EXPECT_EQ(clusters->advance(), State::kStill);
  set_flag(b, 1);
  EXPECT_EQ(clusters->advance(), State::kDone);
  EXPECT_EQ(grid->advance(), State::kDone);
  expect_clean(*clusters);
  expect_clean(*grid);
}

}  // namespace running_test
}  // namespace lockstep::engine
