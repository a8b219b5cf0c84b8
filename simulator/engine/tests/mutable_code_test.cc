// Mutants of loaded code, changed in place: kernels, variables and results.
#include "simulator/engine/run/mutable_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace {

using testing::Machine;

// y[i] = x[i] + step, counting its threads; no effect for threads beyond n.
const std::string kText = testing::module_text(R"(
.visible .global .align 4 .u32 counted;
.visible .entry shift(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.s32 %r4, %r3, 5;
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r4;
  mov.u64 %rd6, counted;
  red.global.add.u32 [%rd6], 1;
DONE:
  ret;
}
)");

class Shift : public ::testing::Test {
 protected:
  Shift() {
    gpu.load_text(kText);
    x = gpu.buffer<std::uint32_t>({10, 20, 30, 40});
    y = gpu.buffer<std::uint32_t>({0, 0, 0, 0});
    const std::string_view texts[] = {kText};
    code = parse_again(texts);
  }
  std::vector<std::uint32_t> run(std::uint32_t n = 4) {
    outcome = gpu.launch("shift", 1, 8, x, y, n);
    return gpu.fetch<std::uint32_t>(y, 4);
  }
  std::uint32_t counted() {
    return gpu.fetch<std::uint32_t>(gpu.module->find_variable("counted")->base, 1)[0];
  }
  // The place of the first mutant of this operator and change.
  mutation::Place place(mutation::Operator op, const std::string& change) {
    const auto all = code->mutants();
    const auto it = std::find_if(all.begin(), all.end(), [&](const mutation::Mutant& m) {
      return m.op == op && m.change == change;
    });
    if (it == all.end()) throw std::runtime_error("no such mutant: " + change);
    return it->place;
  }
  std::string mutate(const mutation::Place& p) {
    return code->mutate(p, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared);
  }

  Machine gpu;
  memory::Address x = 0, y = 0;
  std::unique_ptr<MutableCode> code;
  Outcome outcome;
};

using Words = std::vector<std::uint32_t>;

TEST_F(Shift, GoesOnAsAnotherKernel) {
  EXPECT_EQ(run(), (Words{15, 25, 35, 45}));
  const Kernel* const kernel = gpu.module->find_kernel("shift");
  // The multiplication's constants come first, then the sum's.
  const auto all = code->mutants();
  const auto sum = std::find_if(all.begin(), all.end(), [](const mutation::Mutant& m) {
    return m.text == "add.s32 %r4, %r3, 0x5" && m.change == "add became sub";
  });
  ASSERT_NE(sum, all.end());
  EXPECT_EQ(mutate(sum->place), "");
  EXPECT_EQ(gpu.module->find_kernel("shift"), kernel);
  EXPECT_EQ(kernel->name(), "shift");
  EXPECT_EQ(run(), (Words{5, 15, 25, 35}));
}

TEST_F(Shift, ChangesWhatItSays) {
  EXPECT_EQ(mutate(place(mutation::Operator::kStoreRemoved, "the store is left out")), "");
  EXPECT_EQ(run(), (Words{0, 0, 0, 0}));
}

TEST_F(Shift, KeepsVariablesAndWhatTheyHold) {
  run();
  EXPECT_EQ(counted(), 4u);
  const memory::Address before = gpu.module->find_variable("counted")->base;
  EXPECT_EQ(mutate(place(mutation::Operator::kStoreRemoved, "the reduction is left out")), "");
  EXPECT_EQ(gpu.module->find_variable("counted")->base, before);
  run();
  EXPECT_EQ(counted(), 4u);  // the value remains and is no longer incremented
}

TEST_F(Shift, ReturnsWhichInstructionsALaunchCameTo) {
  std::vector<std::uint8_t> ran;
  gpu.config.ran = &ran;
  run(0);
  const std::size_t outside = code->reached(*gpu.module->find_kernel("shift"), ran).size();
  run(4);
  const std::size_t all = code->reached(*gpu.module->find_kernel("shift"), ran).size();
  EXPECT_EQ(outside, 7u);  // instructions up to the branch, and the return
  EXPECT_EQ(all, 15u);
  // A branch that is never taken could be: "always taken" is a mutant of it.
  gpu.launch("shift", 1, 4, x, y, 4u);
  EXPECT_EQ(code->reached(*gpu.module->find_kernel("shift"), ran).size(), all);
}

// Every mutant can be executed; each starts from the original code.
TEST_F(Shift, EveryMutantIsCodeThatRuns) {
  const auto all = code->mutants();
  EXPECT_GT(all.size(), 25u);
  std::size_t noticed = 0;
  for (const mutation::Mutant& m : all) {
    ASSERT_EQ(mutate(m.place), "") << m.text << ": " << m.change;
    const Words result = run(3);
    noticed += result != Words{15, 25, 35, 0} || outcome.failed();
    gpu.load_text(kText);
    std::memset(gpu.memory.host(*gpu.memory.find(y), y), 0, 16);
  }
  // Mutants of the counter, among others, are not noticed.
  EXPECT_GT(noticed, all.size() / 2);
}

// A mutant beside the module: launches between two exchanges run it, later launches the original.
TEST_F(Shift, StandsBesideTheModuleAndTakesItsPlaceForALaunch) {
  std::string why;
  const auto mutant =
      code->prepare(place(mutation::Operator::kStoreRemoved, "the store is left out"), *gpu.module,
                    gpu.memory, 0, RegisterPlaces::kShared, &why);
  ASSERT_NE(mutant, nullptr) << why;
  const Kernel& kernel = *gpu.module->find_kernel("shift");
  EXPECT_TRUE(mutant->is_of(kernel));
  mutant->exchange();
  EXPECT_EQ(run(), (Words{0, 0, 0, 0}));
  mutant->exchange();
  EXPECT_EQ(run(), (Words{15, 25, 35, 45}));
  mutant->exchange();
  EXPECT_EQ(run(), (Words{15, 25, 35, 45}));  // nothing is stored again
  EXPECT_EQ(counted(), 12u);
  EXPECT_EQ(
      code->prepare({0, 0, 1000, 0}, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared, &why),
      nullptr);
  EXPECT_EQ(why, "the function has no such instruction");
}

TEST_F(Shift, ReturnsWhichOperationsBelongToAPlace) {
  const mutation::Place store = place(mutation::Operator::kStoreRemoved, "the store is left out"),
                        nowhere{0, 0, 1000, 0};
  const mutation::Place places[] = {store, nowhere};
  const auto operations = code->operations(*gpu.module, places);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].kernel, "shift");
  EXPECT_TRUE(operations[1].pcs.empty());
  std::vector<std::uint8_t> ran;
  gpu.config.ran = &ran;
  ASSERT_FALSE(operations[0].pcs.empty());
  run(0);
  for (const std::uint32_t pc : operations[0].pcs) EXPECT_EQ(ran[pc], 0);
  run(4);
  for (const std::uint32_t pc : operations[0].pcs) EXPECT_NE(ran[pc], 0);
}

// Other kernels influence the layout of shared variables, and only one kernel is compiled anew.
// Every mutant must behave as in a module compiled as a whole.
TEST(BesideAModule, DoesWhatTheChangedModuleDoes) {
  // Two kernels store the addresses of their own variables and of a common variable; a third kernel
  // has none.
  const std::string text = testing::module_text(R"(
.shared .align 4 .b8 both[400];
.shared .align 4 .b8 mine[200];
.visible .entry idle() { ret; }
.visible .entry other(.param .u64 y)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  .shared .align 4 .b8 others[600];
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, others;
  mov.u32 %r2, both;
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry own(.param .u64 y)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, mine;
  mov.u32 %r2, both;
  st.shared.u32 [mine+8], %r2;
  ld.shared.u32 %r4, [mine+8];
  add.u32 %r3, %r1, %r4;
  st.global.u32 [%rd1], %r3;
  st.global.u32 [%rd1+4], %r4;
  ret;
}
)");
  const std::string_view texts[] = {text};
  const auto code = parse_again(texts);
  std::size_t compared = 0;
  for (const mutation::Mutant& m : code->mutants()) {
    if (m.function != "own") continue;
    Machine whole, beside;
    whole.load_text(text);
    beside.load_text(text);
    const memory::Address y = whole.buffer<std::uint32_t>({0, 0}),
                          z = beside.buffer<std::uint32_t>({0, 0});
    ASSERT_EQ(code->mutate(m.place, *whole.module, whole.memory, 0, RegisterPlaces::kShared), "");
    std::string why;
    const auto mutant =
        code->prepare(m.place, *beside.module, beside.memory, 0, RegisterPlaces::kShared, &why);
    ASSERT_EQ(why, "");
    if (mutant == nullptr) continue;  // visible in its shared memory
    EXPECT_FALSE(mutant->is_of(*beside.module->find_kernel("other")));
    mutant->exchange();
    const Outcome a = whole.launch("own", 1, 32, y), b = beside.launch("own", 1, 32, z);
    mutant->exchange();
    EXPECT_EQ(a.failed(), b.failed()) << m.text << ": " << m.change;
    EXPECT_EQ(whole.fetch<std::uint32_t>(y, 2), beside.fetch<std::uint32_t>(z, 2))
        << m.text << ": " << m.change;
    EXPECT_FALSE(beside.launch("other", 1, 1, z).failed());
    ++compared;
  }
  EXPECT_GT(compared, 10u);
}

// A stencil by tiles in shared memory: conditions, a loop, conversions, a selection, guards, and
// values that nobody uses.
const std::string kTiles = testing::module_text(R"(
.visible .entry tiles(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<9>;
  .reg .b16 %h<4>;
  .reg .b32 %r<30>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<20>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  add.s32 %r20, %r2, %r3;
  add.s32 %r21, %r20, %r3;
  mov.u32 %r4, %r2;
  add.s32 %r22, %r2, 7;
  ld.param.u32 %r22, [n];
  setp.eq.s32 %p5, %r22, 20;
  @%p5 bra FILL;
FILL:
  setp.ge.s32 %p1, %r4, 40;
  @%p1 bra FILLED;
  setp.lt.s32 %p2, %r4, %r1;
  cvt.s64.s32 %rd3, %r4;
  shl.b64 %rd4, %rd3, 2;
  add.s64 %rd5, %rd1, %rd4;
  mov.u32 %r5, 0;
  @%p2 ld.global.u32 %r5, [%rd5];
  mov.u32 %r6, tile;
  cvt.u32.u64 %r7, %rd4;
  add.s32 %r8, %r6, %r7;
  st.shared.u32 [%r8], %r5;
  add.s32 %r4, %r4, %r3;
  bra FILL;
FILLED:
  bar.sync 0;
  setp.lt.s32 %p3, %r2, %r1;
  min.s32 %r9, %r2, 63;
  and.b32 %r10, %r9, 63;
  cvt.u16.u32 %h1, %r10;
  cvt.u32.u16 %r11, %h1;
  mul.wide.u32 %rd6, %r11, 4;
  cvt.u32.u64 %r12, %rd6;
  mov.u32 %r13, tile;
  add.s32 %r14, %r13, %r12;
  ld.shared.u32 %r15, [%r14];
  ld.shared.u32 %r16, [%r14+4];
  setp.lt.s32 %p4, %r21, -40;
  selp.b32 %r17, %r15, %r16, %p3;
  add.s32 %r18, %r17, %r16;
  @%p4 add.s32 %r18, %r18, 1;
  add.s64 %rd7, %rd2, %rd6;
  cvt.rn.f32.s32 %f1, %r18;
  fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
  @%p3 st.global.f32 [%rd7], %f2;
  ret;
}
)");

struct Results {
  bool failed = false;
  std::vector<std::uint32_t> values;
  bool operator==(const Results&) const = default;
};

class Watching : public ::testing::Test {
 protected:
  Watching() {
    gpu.load_text(kTiles);
    std::vector<std::uint32_t> values;
    for (std::uint32_t i = 0; i < 64; ++i) values.push_back(3 * i + i % 5);
    x = gpu.buffer<std::uint32_t>(values);
    y = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(64, 0));
    const std::string_view texts[] = {kTiles};
    code = parse_again(texts);
  }
  Results run(std::uint32_t n) {
    std::memset(gpu.memory.host(*gpu.memory.find(y), y), 0, 256);
    const Outcome outcome = gpu.launch("tiles", 1, 32, x, y, n);
    return {outcome.failed(), gpu.fetch<std::uint32_t>(y, 64)};
  }
  static bool has_signal(const WatchedKernel::Mutant& m, const std::vector<std::uint8_t>& ran) {
    return std::any_of(m.pcs.begin(), m.pcs.end(),
                       [&](std::uint32_t pc) { return (ran[pc] & kExecuted) != 0; });
  }

  Machine gpu;
  memory::Address x = 0, y = 0;
  std::unique_ptr<MutableCode> code;
};

// No mutant without a signal leaves anything else than the unchanged kernel, with all checks.
TEST_F(Watching, MutantsWithoutASignalChangeNothing) {
  std::vector<mutation::Mutant> mutants = code->mutants();
  std::vector<mutation::Place> places;
  for (const mutation::Mutant& m : mutants) places.push_back(m.place);
  auto watched = code->watch(places, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared);
  ASSERT_TRUE(watched);
  ASSERT_EQ(watched->mutants.size(), mutants.size());
  int silent = 0, signalled = 0, alone = 0;
  for (const std::uint32_t n : {32u, 20u, 1u}) {
    const Results usual = run(n);
    ASSERT_FALSE(usual.failed);
    std::vector<std::uint8_t> ran;
    gpu.config.ran = &ran;
    watched->code->exchange();
    EXPECT_EQ(run(n), usual);
    watched->code->exchange();
    gpu.config.ran = nullptr;
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      const WatchedKernel::Mutant& seen = watched->mutants[i];
      if (!seen.watched || !seen.keeps_initialisation) continue;
      std::string why;
      const auto mutant = code->prepare(mutants[i].place, *gpu.module, gpu.memory, 0,
                                        RegisterPlaces::kShared, &why);
      ASSERT_NE(mutant, nullptr) << why;
      mutant->exchange();
      const Results results = run(n);
      mutant->exchange();
      if (has_signal(seen, ran)) {
        ++signalled;
        alone += results == usual;
      } else {
        ++silent;
        EXPECT_EQ(results, usual) << n << ": " << mutants[i].text << ": " << mutants[i].change;
      }
    }
  }
  EXPECT_GT(silent, 20);
  EXPECT_GT(signalled, 80);
  EXPECT_LT(alone, signalled / 2);  // a signal mostly stands for an effect
}

// A value differs, but no condition, address or stored value follows from it.
TEST_F(Watching, LooksAtWhatFollowsFromAValue) {
  const auto has = [&](const std::string& text, const std::string& change) {
    for (const mutation::Mutant& m : code->mutants()) {
      if (!m.text.starts_with(text) || m.change != change) continue;
      const mutation::Place places[] = {m.place};
      auto watched = code->watch(places, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared);
      EXPECT_TRUE(watched && watched->mutants[0].watched) << text;
      std::vector<std::uint8_t> ran;
      gpu.config.ran = &ran;
      watched->code->exchange();
      run(20);
      watched->code->exchange();
      gpu.config.ran = nullptr;
      return has_signal(watched->mutants[0], ran);
    }
    ADD_FAILURE() << "no mutant " << change << " of " << text;
    return false;
  };
  EXPECT_FALSE(has("add.s32 %r22, %r2, 0x7", "the constant is one more"));  // not the value at p5
  // Neither tid + 64 nor tid is less than -40.
  EXPECT_FALSE(has("add.s32 %r20, %r2, %r3", "add became sub"));
  EXPECT_FALSE(has("add.s32 %r21, %r20, %r3", "add became sub"));
  EXPECT_TRUE(has("setp.lt.s32 %p4, %r21", "lt became ge"));
  EXPECT_FALSE(has("min.s32 %r9, %r2, 0x3f", "the constant is one more"));
  EXPECT_TRUE(has("min.s32 %r9, %r2, 0x3f", "min became max"));
  EXPECT_TRUE(has("setp.lt.s32 %p3, %r2, %r1", "lt became le"));
  EXPECT_TRUE(has("@%p3 st.global.f32 [%rd7], %f2", "is done whatever the condition"));
  EXPECT_FALSE(has("fma.rn.f32 %f2, %f1", "rn became rz"));  // of small integers
  EXPECT_TRUE(has("fma.rn.f32 %f2, %f1", "the constant is one more"));
}

// Otherwise the check of initialisation judges a mutant without a signal.
TEST_F(Watching, KnowsWhereUninitialisedBitsStayTheSame) {
  const auto keeps = [&](const std::string& text, const std::string& change) {
    for (const mutation::Mutant& m : code->mutants()) {
      if (!m.text.starts_with(text) || m.change != change) continue;
      const mutation::Place places[] = {m.place};
      auto watched = code->watch(places, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared);
      EXPECT_TRUE(watched && watched->mutants[0].watched) << text;
      return watched->mutants[0].keeps_initialisation;
    }
    ADD_FAILURE() << "no mutant " << change << " of " << text;
    return false;
  };
  EXPECT_TRUE(keeps("min.s32 %r9, %r2, 0x3f", "min became max")) << "of nothing that is loaded";
  EXPECT_TRUE(keeps("add.s32 %r18, %r17, %r16", "add became sub")) << "of the same sources";
  EXPECT_FALSE(keeps("selp.b32 %r17, %r15, %r16, %p3", "its operands change places"));
}

// Additional instructions would change what a clock returns.
TEST_F(Watching, NothingIsWatchedBesideAClock) {
  std::string text = kTiles;
  text.replace(text.find("%tid.x"), 6, "%clock");
  const std::string_view texts[] = {text};
  const auto clocked = parse_again(texts);
  gpu.load_text(text);
  std::vector<mutation::Place> places;
  for (const mutation::Mutant& m : clocked->mutants()) places.push_back(m.place);
  ASSERT_FALSE(places.empty());
  const auto watched = clocked->watch(places, *gpu.module, gpu.memory, 0, RegisterPlaces::kShared);
  ASSERT_TRUE(watched);
  EXPECT_EQ(watched->mutants.size(), places.size());
  for (const WatchedKernel::Mutant& m : watched->mutants) EXPECT_FALSE(m.watched);
}

TEST_F(Shift, RefusesAPlaceThatIsNotThere) {
  EXPECT_EQ(mutate({0, 0, 1000, 0}), "the function has no such instruction");
  EXPECT_EQ(mutate({0, 7, 0, 0}), "the device code has no such function");
  EXPECT_EQ(run(), (Words{15, 25, 35, 45}));
}

}  // namespace
}  // namespace lockstep::engine
