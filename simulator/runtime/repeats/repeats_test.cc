// Which launches count as repetitions, and what they leave in memory.
#include "simulator/runtime/repeats/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::runtime {
namespace {

using ::testing::Each;
using Mode = Repeats::Mode;

// An entry with x + 4 i in %rd3, y + 4 i in %rd4 and i in %r1.
std::string entry(const std::string& name, const std::string& body) {
  return ".entry " + name + R"((.param .b64 px, .param .b64 py) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.b64 %rd1, [px]; ld.param.b64 %rd2, [py];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3; add.s64 %rd3, %rd1, %rd3;
)" + body +
         "  ret;\n}\n";
}

std::string kernels() {
  const std::string load = "  ld.global.b32 %r2, [%rd3];\n",
                    store = "  st.global.b32 [%rd4], %r2;\n";
  return R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 4 .b8 text[4] = {104, 105, 10, 0};
.func write(.param .b64 y, .param .b32 v) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.b64 %rd1, [y]; ld.param.b32 %r1, [v]; st.global.b32 [%rd1], %r1; ret;
}
.func timed(.param .b64 y) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.b64 %rd1, [y]; mov.u32 %r1, %clock; st.global.b32 [%rd1], %r1; ret;
}
)" + entry("copy", load + store) +
         entry("other", load + store) +
         entry("half", load + "  and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0;\n  @%p1" + store) +
         entry("add", load + "  add.s32 %r2, %r2, 1;\n  st.global.b32 [%rd3], %r2;\n") +
         entry("same", "  mov.u32 %r2, 7;\n  st.global.b32 [%rd2], %r2;\n") +
         entry("late", "  mov.u32 %r2, %clock;\n" + store) +
         entry("called", "  call write, (%rd4, %r1);\n") +
         entry("called_late", "  call timed, (%rd4);\n") +
         entry("by_address",
               "  mov.u64 %rd5, write;\n"
               "  p: .callprototype _ (.param .b64 y, .param .b32 v);\n"
               "  call %rd5, (%rd4, %r1), p;\n") +
         entry("print", load + store + R"(
  { .param .b64 a; .param .b64 b; .param .b32 r;
    mov.u64 %rd5, text; cvta.global.u64 %rd5, %rd5; st.param.b64 [a], %rd5;
    mov.u64 %rd6, 0; st.param.b64 [b], %rd6; call.uni (r), vprintf, (a, b); }
)");
}

constexpr int kCount = 32;
constexpr std::uint64_t kBytes = 4 * kCount;

struct Scene {
  engine::testing::Machine gpu;
  Repeats repeats;
  memory::Address x, y;
  bool closed = true;
  std::vector<check::Finding> findings;  // of the latest launch

  explicit Scene(Mode mode = Mode::kAlways, std::uint32_t checks = check::kAllChecks)
      : repeats(mode) {
    gpu.load(kernels());
    gpu.config.checks = checks;
    x = gpu.buffer(std::vector<int>(kCount, 1));
    y = gpu.unwritten(kBytes);
  }
  void set(memory::Address to, int value) {
    memory::DeviceMemory& m = gpu.memory;
    const std::vector<int> values(kCount, value);
    std::memcpy(m.host(*m.find(to), to), values.data(), kBytes);
    m.mark_written(to, kBytes);
    repeats.wrote(memory::Box::line(to, kBytes));
  }
  std::vector<int> get(memory::Address from) const { return gpu.fetch<int>(from, kCount); }

  // Whether the launch was not executed.
  bool repeats_one(const char* name, memory::Address a, memory::Address b,
                   const std::function<void()>& before_end = {}, bool waited = false) {
    const engine::Kernel* const kernel = gpu.module->find_kernel(name);
    std::byte parameters[16];
    std::memcpy(parameters, &a, 8);
    std::memcpy(parameters + 8, &b, 8);
    engine::LaunchConfig config = gpu.config;
    config.grid = {1, 1, 1};
    config.block = {kCount, 1, 1};
    config.parameters = parameters;
    config.closed = [this] { return closed; };
    Repeats::Begun begun = repeats.begin(*kernel, config, 0, gpu.memory);
    if (begun.outcome) {
      EXPECT_EQ(begun.outcome->counters.warp_instructions, instructions_);
      findings = begun.outcome->findings;
      return true;
    }
    const engine::Outcome outcome = engine::launch(*kernel, config, gpu.memory);
    instructions_ = outcome.counters.warp_instructions;
    findings = outcome.findings;
    if (before_end) before_end();
    repeats.ended(begun.attempt, *kernel, outcome, waited, gpu.memory);
    return false;
  }
  bool copies() { return repeats_one("copy", x, y); }

 private:
  std::uint64_t instructions_ = 0;
};

TEST(Repeats, TheSecondLaunchOnTheSameMemoryIsNotExecuted) {
  for (const Mode mode : {Mode::kOn, Mode::kAlways}) {
    Scene s(mode);
    EXPECT_FALSE(s.copies());
    EXPECT_TRUE(s.copies());
    EXPECT_TRUE(s.copies());
    EXPECT_EQ(s.repeats.count(), 2u);
    EXPECT_THAT(s.get(s.y), Each(1));
  }
}

TEST(Repeats, OtherInputIsExecuted) {
  Scene s;
  EXPECT_FALSE(s.copies());
  s.set(s.x, 2);
  EXPECT_FALSE(s.copies());
  EXPECT_THAT(s.get(s.y), Each(2));
}

TEST(Repeats, AnEarlierResultComesBackWithItsInput) {
  Scene s;
  s.set(s.y, 0);
  EXPECT_FALSE(s.copies());
  s.set(s.y, 0);
  EXPECT_TRUE(s.copies());
  EXPECT_THAT(s.get(s.y), Each(1));
  EXPECT_FALSE(s.copies()) << "the first launch on its own result";
  EXPECT_TRUE(s.copies());
}

TEST(Repeats, BytesThatARepetitionWritesCountAsWritten) {
  Scene s;
  EXPECT_FALSE(s.copies());
  s.gpu.memory.mark_unwritten(s.y, kBytes);
  s.repeats.wrote();
  EXPECT_TRUE(s.copies());
  EXPECT_TRUE(s.gpu.memory.is_written(s.y, kBytes));
}

TEST(Repeats, ALaunchThatChangesItsInputIsExecutedUntilTheInputIsBack) {
  Scene s;
  EXPECT_FALSE(s.repeats_one("add", s.x, s.y));
  EXPECT_FALSE(s.repeats_one("add", s.x, s.y));
  EXPECT_THAT(s.get(s.x), Each(3));
  s.set(s.x, 1);
  EXPECT_TRUE(s.repeats_one("add", s.x, s.y));
  EXPECT_THAT(s.get(s.x), Each(2));
  EXPECT_TRUE(s.repeats_one("add", s.x, s.y));
  EXPECT_THAT(s.get(s.x), Each(3));
}

TEST(Repeats, OtherParametersConfigurationsAndKernelsAreExecuted) {
  Scene s;
  const memory::Address z = s.gpu.unwritten(kBytes);
  EXPECT_FALSE(s.copies());
  EXPECT_FALSE(s.repeats_one("copy", s.x, z));
  EXPECT_FALSE(s.repeats_one("other", s.x, s.y));
  EXPECT_TRUE(s.copies());
  s.gpu.config.dynamic_shared = 16;
  EXPECT_FALSE(s.copies());
  s.gpu.config.count = true;
  EXPECT_FALSE(s.copies());
  s.gpu.config.sample = 1;
  EXPECT_FALSE(s.copies());
  s.gpu.config.checks &= ~check::kRaces;
  EXPECT_FALSE(s.copies());
}

TEST(Repeats, FreshMemoryNeedNotBeFreshAgain) {
  Scene s;
  EXPECT_FALSE(s.repeats_one("half", s.x, s.y)) << "odd elements stay unwritten";
  EXPECT_TRUE(s.repeats_one("half", s.x, s.y));
  s.set(s.y, 5);
  EXPECT_FALSE(s.repeats_one("half", s.x, s.y)) << "odd elements differ now";
  EXPECT_EQ(s.get(s.y)[0], 1);
  EXPECT_EQ(s.get(s.y)[1], 5);
}

TEST(Repeats, FreshMemoryThatTheLaunchLeavesAloneMayBeInAnyState) {
  Scene s;
  const memory::Address z = s.gpu.unwritten(kBytes);
  EXPECT_FALSE(s.copies());
  s.set(z, 3);
  EXPECT_TRUE(s.copies());
  EXPECT_THAT(s.get(z), Each(3));
  s.set(s.y, 0);
  EXPECT_FALSE(s.copies());
  s.set(z, 4);
  s.set(s.y, 0);
  EXPECT_FALSE(s.copies()) << "it was written when the launch was recorded";
}

TEST(Repeats, WithoutTheCheckOfUnwrittenBytesTheirContentsCount) {
  Scene s(Mode::kAlways, check::kAllChecks & ~check::kInitialisation);
  EXPECT_FALSE(s.copies());
  EXPECT_FALSE(s.copies()) << "the kernel may have read what was unwritten";
  EXPECT_TRUE(s.copies());
}

TEST(Repeats, KernelsThatDependOnMoreThanMemoryAreExecuted) {
  Scene s;
  for (const char* const name : {"late", "called_late", "by_address", "print"}) {
    // The third launch finds what the second one has found.
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(s.repeats_one(name, s.x, s.y)) << name;
  }
  EXPECT_EQ(s.gpu.printed.substr(0, 6), "hi\nhi\n");
  EXPECT_FALSE(s.repeats_one("called", s.x, s.y)) << "the first one";
  EXPECT_FALSE(s.repeats_one("called", s.x, s.y)) << "the first one on its own result";
  EXPECT_TRUE(s.repeats_one("called", s.x, s.y));
}

TEST(Repeats, LaunchesWithFindingsAreExecuted) {
  Scene s;
  const memory::Address unwritten = s.gpu.unwritten(kBytes);
  // Stores of unwritten values are no finding yet.
  EXPECT_FALSE(s.repeats_one("copy", unwritten, s.y));
  EXPECT_FALSE(s.repeats_one("copy", unwritten, s.y));
  EXPECT_FALSE(s.repeats_one("add", s.x + 4, s.y));
  EXPECT_FALSE(s.repeats_one("add", s.x + 4, s.y));
}

TEST(Repeats, RacesThatDoNoHarmAreReportedAgain) {
  Scene s;
  EXPECT_FALSE(s.repeats_one("same", s.x, s.y));
  ASSERT_EQ(s.findings.size(), 1u);
  const check::Finding first = s.findings[0];
  EXPECT_EQ(first.severity, check::Severity::kInformation);
  EXPECT_TRUE(s.repeats_one("same", s.x, s.y));
  ASSERT_EQ(s.findings.size(), 1u);
  EXPECT_EQ(s.findings[0].to_string(), first.to_string());
  EXPECT_EQ(s.findings[0].occurrences, first.occurrences);
}

// Each of the two results is kept alone, but both are more than what is kept of launches that have
// not come again.
TEST(Repeats, LaunchesInTurnsRepeatAlthoughTheirResultsAreLarge) {
  Scene s;
  const memory::Address large = s.gpu.unwritten(20 << 20),
                        z = s.gpu.buffer(std::vector<int>(kCount, 2));
  for (int round = 0; round < 4; ++round) {
    s.repeats_one("copy", s.x, large);
    s.repeats_one("copy", z, large);
  }
  EXPECT_TRUE(s.repeats_one("copy", s.x, large));
  EXPECT_THAT(s.get(large), Each(1));
  EXPECT_TRUE(s.repeats_one("copy", z, large));
  EXPECT_THAT(s.get(large), Each(2));
}

// What a launch in turns keeps, others that come once do not take away.
TEST(Repeats, LaunchesThatComeOnceTakeNoRoomFromOthers) {
  Scene s;
  const memory::Address large = s.gpu.unwritten(20 << 20),
                        z = s.gpu.buffer(std::vector<int>(kCount, 2));
  for (int round = 0; round < 4; ++round) {
    s.repeats_one("copy", s.x, large);
    s.repeats_one("copy", z, large);
  }
  s.set(s.x, 3);
  EXPECT_FALSE(s.repeats_one("copy", s.x, large));
  s.set(s.x, 1);
  s.set(large, 2);
  EXPECT_TRUE(s.repeats_one("copy", s.x, large)) << "as behind the launch from z";
  EXPECT_THAT(s.get(large), Each(1));
}

TEST(Repeats, LaunchesThatHaveWaitedAreExecuted) {
  Scene s;
  EXPECT_FALSE(s.repeats_one("copy", s.x, s.y, {}, true));
  EXPECT_FALSE(s.copies());
}

TEST(Repeats, LaunchesThatOthersMayRaceWithAreExecuted) {
  Scene s;
  s.closed = false;
  EXPECT_FALSE(s.copies());
  EXPECT_FALSE(s.copies());
  s.closed = true;
  EXPECT_FALSE(s.copies());
  EXPECT_TRUE(s.copies());
  s.closed = false;
  EXPECT_FALSE(s.copies());
}

TEST(Repeats, TheHostMayWriteToItsMemoryWithoutACall) {
  Scene s;
  memory::DeviceMemory& m = s.gpu.memory;
  const auto* const managed = m.allocate(kBytes, 256, memory::Kind::kManaged, 0);
  EXPECT_FALSE(s.repeats_one("copy", managed->base, s.y));
  EXPECT_TRUE(s.repeats_one("copy", managed->base, s.y));
  *reinterpret_cast<int*>(managed->base) = 9;
  EXPECT_FALSE(s.repeats_one("copy", managed->base, s.y));
  EXPECT_EQ(s.get(s.y)[0], 9);
}

TEST(Repeats, NewMemoryAtTheSamePlaceIsNotTheOldOne) {
  Scene s;
  EXPECT_FALSE(s.copies());
  EXPECT_EQ(s.gpu.memory.release(s.y), memory::DeviceMemory::FreeResult::kOk);
  const auto* const again = s.gpu.memory.allocate_at(s.y, kBytes, 0);
  if (again == nullptr) GTEST_SKIP() << "the place is not free yet";
  EXPECT_FALSE(s.copies());
}

TEST(Repeats, NothingIsKnownOfMemoryThatOtherProcessesShare) {
  Scene s;
  const int file = s.gpu.memory.share(s.gpu.memory.find(s.x)->base);
  ASSERT_GE(file, 0);
  EXPECT_FALSE(s.copies());
  EXPECT_FALSE(s.copies());
}

TEST(Repeats, PartlyWrittenBytesAreNotCovered) {
  Scene s;
  s.gpu.memory.partly_written().set(s.gpu.unwritten(kBytes), 0x0f);
  EXPECT_FALSE(s.copies());
  EXPECT_FALSE(s.copies());
}

TEST(Repeats, WhatIsForgottenIsExecuted) {
  Scene s;
  EXPECT_FALSE(s.copies());
  s.repeats.forget();
  EXPECT_FALSE(s.copies());
  EXPECT_TRUE(s.copies());
}

TEST(Repeats, ALaunchWithAnotherOutcomeIsForgotten) {
  Scene s;
  memory::DeviceMemory& m = s.gpu.memory;
  s.set(s.y, 0);
  // As if an unlisted cause had changed the outcome. Too much is changed to be saved at once.
  const memory::Address large = s.gpu.buffer(std::vector<char>(std::size_t{33} << 20));
  const auto change = [&] { m.host(*m.find(large), large)[0] ^= std::byte{1}; };
  EXPECT_FALSE(s.repeats_one("copy", s.x, s.y, change));
  s.set(s.y, 0);
  m.host(*m.find(large), large)[0] ^= std::byte{1};
  s.repeats.wrote();
  EXPECT_FALSE(s.copies()) << "its result was not saved";
  s.set(s.y, 0);
  EXPECT_FALSE(s.copies());
}

TEST(RepeatsDeathTest, ComparesWhatIsRepeated) {
  Scene s(Mode::kCompare);
  EXPECT_FALSE(s.copies());
  EXPECT_FALSE(s.copies());
  EXPECT_EQ(s.repeats.count(), 1u);
  memory::DeviceMemory& m = s.gpu.memory;
  EXPECT_DEATH(
      s.repeats_one("copy", s.x, s.y, [&] { m.host(*m.find(s.x), s.x)[0] ^= std::byte{1}; }),
      "LOCKSTEP_REPEATS=compare: a launch of kernel copy has left other memory");
}

}  // namespace
}  // namespace lockstep::runtime
