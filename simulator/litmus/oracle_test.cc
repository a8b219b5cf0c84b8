// Compares the oracle with verdicts derived by hand, and with a search through every order of
// steps.
#include "simulator/litmus/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "simulator/litmus/generator.h"
#include "simulator/litmus/text.h"

namespace lockstep::litmus {
namespace {

using ::testing::StartsWith;

std::vector<Named> shapes() {
  std::ifstream in("golden/litmus/shapes.litmus");
  std::stringstream text;
  text << in.rdbuf();
  return parse(text.str());
}

TEST(Oracle, JudgesShapesAsTheManualDoes) {
  const std::vector<Named> all = shapes();
  EXPECT_GT(all.size(), 90u);
  for (const Named& shape : all) {
    ASSERT_EQ(shape.expected.size(), 1u) << shape.name;
    EXPECT_THAT(shape.expected[0], StartsWith(name(judge(shape.program).verdict)))
        << to_text(shape.program, shape.name);
  }
}

// The verdict is the same whether or not the search continues after a race.
TEST(Oracle, StopsAtARaceWithoutAnotherVerdict) {
  Search everything;
  everything.everything = true;
  for (const Named& shape : shapes())
    EXPECT_EQ(judge(shape.program).verdict, judge(shape.program, everything).verdict) << shape.name;
}

// Only one order of independent steps is examined. Verdicts, outcomes and races must be those of
// all orders.
TEST(Oracle, LeavesOutNoExecutionThatDiffers) {
  Search some;
  some.everything = true;
  some.most_steps = 2'000;
  Search all = some;
  all.every_order = true;
  all.most_steps = 60'000;
  int compared = 0;
  for (std::uint64_t number = 0; number < 3'000; ++number) {
    const Program p = random_program(number);
    if (!invalid(p).empty() || p.size() > 9) continue;
    const Judgement a = judge(p, some), b = judge(p, all);
    if (a.verdict == Verdict::kTooLarge || b.verdict == Verdict::kTooLarge) continue;
    ++compared;
    ASSERT_EQ(a.verdict, b.verdict) << to_text(p, std::to_string(number));
    if (a.verdict == Verdict::kInvalid) continue;
    // An unordered pair may be reported in either order.
    const auto either = [](const std::set<Race>& races) {
      std::set<Race> one_way;
      for (Race r : races) {
        if (r.thread > r.other_thread) r = {r.other_thread, r.other_op, r.thread, r.op};
        one_way.insert(r);
      }
      return one_way;
    };
    EXPECT_EQ(either(a.races), either(b.races)) << to_text(p, std::to_string(number));
    ASSERT_EQ(a.outcomes.size(), b.outcomes.size()) << to_text(p, std::to_string(number));
    for (const auto& [outcome, of] : b.outcomes) {
      ASSERT_TRUE(a.outcomes.contains(outcome));
      EXPECT_EQ(a.outcomes.at(outcome).races, of.races) << to_text(p, std::to_string(number));
      EXPECT_EQ(a.outcomes.at(outcome).free, of.free) << to_text(p, std::to_string(number));
    }
  }
  EXPECT_GT(compared, 500);
}

Verdict verdict(std::string_view text, const Rules& rules = {}) {
  Search s;
  s.rules = rules;
  return judge(parse(text)[0].program, s).verdict;
}

TEST(Oracle, ThreadsThatWaitForEachOtherAreInvalid) {
  EXPECT_EQ(verdict(R"(
litmus waits_for_what_nobody_writes
f global+0 4
P0 0.0.0: await.ld.relaxed.gpu f 1
P1 1.0.0: ld.relaxed.gpu f
)"),
            Verdict::kInvalid);
  EXPECT_EQ(verdict(R"(
litmus each_waits_first
f global+0 4
g global+8 4
P0 0.0.0: await.ld.relaxed.gpu f 1; st.relaxed.gpu g 1
P1 1.0.0: await.ld.relaxed.gpu g 1; st.relaxed.gpu f 1
)"),
            Verdict::kInvalid);
  EXPECT_EQ(verdict(R"(
litmus waits_for_what_may_be_gone
f global+0 4
P0 0.0.0: st.relaxed.gpu f 1; st.relaxed.gpu f 2
P1 1.0.0: await.ld.relaxed.gpu f 1
)"),
            Verdict::kInvalid);
}

TEST(Oracle, FenceScOrder) {
  const char* const store_buffering = R"(
litmus fence_sc_hands_over_by_what_was_not_read
x global+0 4
y global+8 4
f global+16 4
P0 0.0.0: st.weak x 1; fence.sc.gpu; st.relaxed.gpu f 1
P1 1.0.0: await.ld.relaxed.gpu f 1; st.weak y 1; fence.sc.gpu; ld.weak x
)";
  EXPECT_EQ(verdict(store_buffering), Verdict::kFree);
  EXPECT_EQ(verdict(store_buffering, {.fence_sc = false}),
            Verdict::kFree);  // includes the pattern of two fences
  const char* const weak_flag = R"(
litmus fence_sc_without_a_pattern
x global+0 4
f global+16 4
P0 0.0.0: st.weak x 1; fence.sc.gpu; atom.add.relaxed.gpu f 1
P1 1.0.0: red.add.relaxed.gpu f 2; fence.sc.gpu; ld.weak x
)";
  EXPECT_EQ(verdict(weak_flag), Verdict::kMixed);
  EXPECT_EQ(verdict(weak_flag, {.fence_sc = false}), Verdict::kRace);
}

TEST(Oracle, RulesBesideTheManual) {
  const char* const block_mates = R"(
litmus fence_barrier_flag
x global+0 4
f global+8 4
P0 0.0.0: st.weak x 1; fence.acq_rel.gpu; bar.sync 0
P1 0.1.0: bar.sync 0; st.relaxed.gpu f 1
P2 1.0.0: await.ld.acquire.gpu f 1; ld.weak x
)";
  EXPECT_EQ(verdict(block_mates), Verdict::kRace);
  EXPECT_EQ(verdict(block_mates, {.block_fences = true}), Verdict::kFree);
  const char* const mixed_sizes = R"(
litmus strong_half
x global+0 8
y global+4 4
P0 0.0.0: st.relaxed.gpu x 1
P1 1.0.0: ld.relaxed.gpu y
)";
  EXPECT_EQ(verdict(mixed_sizes), Verdict::kRace);
  EXPECT_EQ(verdict(mixed_sizes, {.mixed_sizes = true}), Verdict::kFree);
  const char* const of_one_thread = R"(
litmus own_atomics_of_two_sizes
x global+0 8
y global+4 4
P0 0.0.0: atom.add.relaxed.gpu x 1; st.weak y 1
P1 0.1.0: atom.add.relaxed.gpu y 1; atom.add.relaxed.gpu x 1
)";
  EXPECT_EQ(verdict(of_one_thread, {.mixed_sizes = true}), Verdict::kRace);
  const char* const unused = R"(
litmus nobody_reads_the_result
x global+0 4
f global+8 4
P0 0.0.0: st.weak x 1; st.release.gpu f 1; atom.add.relaxed.gpu f 1
P1 1.0.0: await.ld.relaxed.gpu f 2; atom.add.relaxed.gpu _ f 1; ld.acquire.gpu x
)";
  EXPECT_EQ(verdict(unused), Verdict::kRace);
  const char* const reset = R"(
litmus observed_by_nobody
x global+0 4
P0 0.0.0: st.relaxed.gpu x 1
P1 1.0.0: atom.add.relaxed.gpu _ x 1; ld.weak x
)";
  EXPECT_EQ(verdict(reset), Verdict::kMixed);
  EXPECT_EQ(verdict(reset, {.unused_atom_is_red = true}), Verdict::kRace);
  EXPECT_EQ(verdict(reset, {.unused_atom_is_red = true, .red_observes = true}), Verdict::kMixed);
  const char* const third_thread = R"(
litmus race_of_two_among_three
x global+0 4
y global+8 4
P0 0.0.0: ld.weak x
P1 1.0.0: ld.weak x; ld.weak y
P2 2.0.0: st.weak x 1
P3 3.0.0: ld.weak y
)";
  EXPECT_EQ(verdict(third_thread), Verdict::kRace);
  EXPECT_EQ(verdict(third_thread, {.three_threads = false}), Verdict::kFree);
}

// The read of x returns the half that nobody has changed since.
TEST(Oracle, AReadObservesAWriteInPart) {
  const Program p = parse(R"(
litmus changed_in_part
x global+0 4
part global+2 2
f global+8 4
P0 0.0.0: st.relaxed.gpu x 1; st.relaxed.gpu part 1; st.relaxed.gpu f 1
P1 1.0.0: await.ld.relaxed.gpu f 1; ld.relaxed.gpu x; st.weak x 2
)")[0]
                        .program;
  Search search;
  search.everything = true;
  const Race race{.thread = 0, .op = 0, .other_thread = 1, .other_op = 2};
  EXPECT_FALSE(judge(p, search).races.contains(race));
  search.rules.parts_observe = false;
  EXPECT_TRUE(judge(p, search).races.contains(race));
}

TEST(Text, IsReadAsItIsWritten) {
  int read = 0;
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    const Program p = random_program(number);
    if (!invalid(p).empty()) continue;
    ++read;
    const std::vector<Named> again = parse(to_text(p, "again") + "expect something\n");
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].name, "again");
    EXPECT_THAT(again[0].expected, ::testing::ElementsAre("something"));
    EXPECT_EQ(to_text(again[0].program, "again"), to_text(p, "again"));
    EXPECT_EQ(judge(again[0].program).verdict, judge(p).verdict)
        << to_text(p, std::to_string(number));
  }
  EXPECT_GT(read, 900);
}

TEST(Text, NamesTheLineThatItCannotRead) {
  const auto message = [](const char* text) {
    try {
      parse(text);
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("litmus a\nx global+0 4\nP0 0.0.0: st.weak y 1\n"),
              ::testing::HasSubstr("line 3: P0 0.0.0: st.weak y 1: no location 'y'"));
  EXPECT_THAT(message("litmus a\nx global+0 4\nP0 0.0.0: ld.weak x 1\n"),
              ::testing::HasSubstr("'1' is too much"));
  EXPECT_THAT(message("litmus a\nx global+0 4\nP0 0.0.0: st.acquire.gpu x 1\n"),
              ::testing::HasSubstr("a store's order"));
  EXPECT_THAT(message("x global+0 4\n"), ::testing::HasSubstr("must come first"));
}

// Every placement, every space and every kind of operation occurs.
TEST(Generator, LeavesNothingOut) {
  std::set<Kind> kinds;
  std::set<Sem> sems;
  std::set<Placement> placements;
  std::set<Space> spaces;
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    const Program p = random_program(number);
    if (!invalid(p).empty()) continue;
    placements.insert(placement_of(p));
    spaces.insert(space_of(p));
    for (const Thread& t : p.threads) {
      for (const Op& op : t.ops) kinds.insert(op.kind), sems.insert(op.sem);
    }
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(Kind::kWait) + 1);
  EXPECT_EQ(sems.size(), static_cast<std::size_t>(Sem::kSc) + 1);
  EXPECT_EQ(placements.size(), static_cast<std::size_t>(kPlacements));
  EXPECT_EQ(spaces.size(), static_cast<std::size_t>(kSpaces));
}

// Twelve operations are the most of a thread. This program has no room for a flag's first store.
TEST(Generator, LeavesOutWhatHasNoRoom) {
  const Program p = random_program(0xa77bc30005b2c1f6);
  for (const Thread& t : p.threads) EXPECT_LE(t.ops.size(), static_cast<std::size_t>(kMaxOps));
}

}  // namespace
}  // namespace lockstep::litmus
