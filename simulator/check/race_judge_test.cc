// Compares the searches for races with the reference judge over random programs. A search never
// reports a race that the judge does not. If only two threads have accessed the memory, it finds
// every race.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "simulator/check/race_programs.h"

namespace lockstep::check {
namespace {

// Of `all` programs a half, and with LOCKSTEP_SCALE (--config=nightly) all.
int some(int all) { return std::getenv("LOCKSTEP_SCALE") ? all : all / 2; }

struct Counts {
  std::uint32_t accesses = 0, races = 0, found = 0;
};

// Runs programs without races: accesses that would race are left out.
template <class MakeSearch>
void accuses_nothing(const Shape& shape, int programs, const MakeSearch& make_search) {
  std::uint32_t done = 0;
  for (int p = 0; p < programs; ++p) {
    Random random(static_cast<std::uint64_t>(p));
    Judge judge(shape);
    const std::unique_ptr<Search> search = make_search();
    std::string text;
    for (int step = 0; step < 80; ++step) {
      if (random.one_in(4)) {
        text += random_order(random, shape, judge, *search);
        continue;
      }
      const Instruction i = random_instruction(random, shape);
      // Lanes that write one place race with each other, unless the writes are strong.
      bool races =
          i.step == 0 && (i.lanes & (i.lanes - 1)) != 0 && i.access.writes && !i.access.strong;
      for (std::uint32_t l = 0; l < kLanes && !races; ++l)
        races = (i.lanes >> l & 1) != 0 && judge.race(of_lane(i, l)) != nullptr;
      if (races) continue;
      for (std::uint32_t l = 0; l < kLanes; ++l) {
        if (i.lanes >> l & 1) judge.access(of_lane(i, l));
      }
      text += describe(i) + "\n";
      ++done;
      if (!search->run(i)) continue;
      // Where atomics of one size are followed by a strong access of another size, the search may
      // not know which of several threads came last: it reports what races by the manual.
      const RaceJudge::Access a = of_lane(i, search->named.lane);
      ASSERT_TRUE(!a.strong && judge.mixes_sizes(a))
          << "program " << p << " makes a race up of lane " << search->named.lane << " with block "
          << search->named.block << " warp " << search->named.warp << " lane "
          << search->named.other_lane << ":\n"
          << text;
    }
  }
  EXPECT_GT(done, static_cast<std::uint32_t>(programs) * 10) << "programs with little in them";
}

// Runs programs up to their first race. The two threads that a search names must be two that race.
template <class MakeSearch>
Counts first_races(const Shape& shape, int programs, std::size_t most_history,
                   const MakeSearch& make_search) {
  Counts counts;
  for (int p = 0; p < programs; ++p) {
    Random random(static_cast<std::uint64_t>(p) + 1000000);
    Judge judge(shape);
    const std::unique_ptr<Search> search = make_search();
    for (int step = 0; step < 80; ++step) {
      if (random.one_in(3)) {
        random_order(random, shape, judge, *search);
        continue;
      }
      Instruction i = random_instruction(random, shape);
      bool races = false, crowded = false;
      const bool found = search->run(i);
      const Search::Named& named = search->named;
      for (std::uint32_t l = 0; l < kLanes; ++l) {
        if (!(i.lanes >> l & 1)) continue;
        crowded |= judge.history(of_lane(i, l)) > most_history;
        const RaceJudge::Access* other = judge.race(of_lane(i, l));
        races |= other != nullptr;
        if (found && named.lane == l) {
          EXPECT_TRUE(judge.race_with(
              of_lane(i, l), thread_of(named.block, named.warp, named.other_lane), named.pc))
              << "program " << p << ": " << describe(i) << "\nnames lane " << l << " against block "
              << named.block << " warp " << named.warp << " lane " << named.other_lane;
        }
        judge.access(of_lane(i, l));
      }
      ++counts.accesses;
      if (!races) continue;
      if (!crowded) {
        ++counts.races;
        counts.found += found;
      }
      break;
    }
  }
  return counts;
}

// Programs of two threads, up to their first race: two lanes of a warp, two warps or two blocks.
// The search and the judge must agree on every access. The search takes each access as a row, as a
// place that lanes read together, as scattered lanes, or by itself.
template <class MakeSearch>
Counts two_threads(const Shape& shape, int programs, const MakeSearch& make_search) {
  Counts counts;
  for (int p = 0; p < programs && !::testing::Test::HasFailure(); ++p) {
    Random random(static_cast<std::uint64_t>(p) + 3000000);
    Judge judge(shape);
    const std::unique_ptr<Search> search = make_search();
    struct Thread {
      std::uint32_t block, warp, lane;
    } threads[2] = {{random(shape.blocks), random(kWarps), random(kLanes)},
                    {random(shape.blocks), random(kWarps), random(kLanes)}};
    if (threads[0].block == threads[1].block && threads[0].warp == threads[1].warp &&
        threads[0].lane == threads[1].lane)
      continue;
    std::string text;
    for (int step = 0; step < 40; ++step) {
      const Thread& t = threads[random(2)];
      if (random.one_in(4)) {
        const std::uint32_t lane = 1u << t.lane;
        if (shape.fences && random.one_in(2)) {
          const Scope scope = random_scope(random);
          judge.fence(t.block, t.warp, lane, scope);
          search->fence(t.block, t.warp, lane, scope);
          text += "fence of block " + std::to_string(t.block) + " warp " + std::to_string(t.warp) +
                  " lanes " + std::to_string(lane) + " scope " +
                  std::to_string(static_cast<int>(scope)) + "\n";
        } else if (random.one_in(4)) {
          text += random_order(random, shape, judge, *search);
        }
        continue;
      }
      Instruction i =
          shape.hands_over ? random_hand_over(random) : random_instruction(random, shape);
      i.block = t.block;
      i.warp = t.warp;
      i.lanes = 1u << t.lane;
      i.step = 0;
      i.access.first -= i.access.first % i.access.size;
      const RaceJudge::Access a = of_lane(i, t.lane);
      const bool races = judge.race(a) != nullptr;
      // Most accesses that would race are left out, so that a race has a long history.
      if (races && !random.one_in(shape.hands_over ? 2 : 16)) continue;
      text += describe(i) + "\n";
      const bool found = search->run(i);
      EXPECT_EQ(found, races) << "program " << p << ":\n" << text;
      if (found) {
        const Search::Named& n = search->named;
        EXPECT_TRUE(judge.race_with(a, thread_of(n.block, n.warp, n.other_lane), n.pc))
            << "program " << p << " makes a race up:\n"
            << text;
      }
      ++counts.accesses;
      counts.races += races;
      counts.found += found;
      if (races) break;
      judge.access(a);
    }
  }
  return counts;
}

constexpr std::uint32_t kSizes[] = {1, 4};

class Judged : public ::testing::Test {
 protected:
  Judged() { place_ = memory_.allocate(4096, 256, memory::Kind::kDevice, 0)->base; }
  auto global(const Shape& s) {
    return [this, s]() -> std::unique_ptr<Search> {
      return std::make_unique<GlobalSearch>(memory_, place_, s.blocks, s.cluster);
    };
  }
  static auto shared(int shift, std::uint32_t bytes = 16) {
    return [shift, bytes]() -> std::unique_ptr<Search> {
      return std::make_unique<SharedSearch>(bytes, shift);
    };
  }
  memory::DeviceMemory memory_;
  std::uint64_t place_ = 0;
};

TEST_F(Judged, GlobalMemoryAccusesNothingThatDoesNotRace) {
  for (const std::uint32_t least : kSizes) {
    for (const bool fences : {false, true}) {
      for (const std::uint32_t cluster : {1u, 2u}) {
        const Shape s{.blocks = 4, .cluster = cluster, .least = least, .fences = fences};
        accuses_nothing(s, some(2000), global(s));
      }
    }
    const Shape one{.blocks = 1, .least = least};
    accuses_nothing(one, some(2000), global(one));
  }
}

TEST_F(Judged, SharedMemoryAccusesNothingThatDoesNotRace) {
  for (const bool fences : {false, true}) {
    accuses_nothing({.blocks = 1, .least = 4, .fences = fences}, some(4000), shared(2));
    accuses_nothing({.blocks = 1, .least = 1, .fences = fences}, some(4000), shared(0));
  }
}

// Counts the races that are found with any history and with fences. The others are missed because a
// cell forgets accesses or because fences order too much.
TEST_F(Judged, MostRacesAreFoundWhateverCameBefore) {
  const auto report = [](const char* what, const Counts& c, double least) {
    std::printf("%s: %u of %u first races found\n", what, c.found, c.races);
    EXPECT_GE(c.found, least * c.races) << what;
  };
  for (const bool fences : {false, true}) {
    const Shape s{.blocks = 3, .least = 1, .fences = fences},
        one{.blocks = 1, .least = 1, .fences = fences};
    report(fences ? "global, with fences" : "global", first_races(s, some(10000), 1000, global(s)),
           0.999);
    report(fences ? "one block, with fences" : "one block",
           first_races(one, some(10000), 1000, global(one)), 0.999);
    report(fences ? "shared, with fences" : "shared",
           first_races(one, some(10000), 1000, shared(0)), 0.999);
  }
}

TEST_F(Judged, RacesOfTwoThreadsAreFoundExactly) {
  const auto report = [](const char* what, const Counts& c) {
    std::printf("%s: %u accesses, %u of %u races found\n", what, c.accesses, c.found, c.races);
    EXPECT_GT(c.accesses, 10000u) << what;
    EXPECT_GT(c.races, 1000u) << what;
  };
  for (const bool fences : {false, true}) {
    for (const std::uint32_t least : kSizes) {
      for (const std::uint32_t cluster : {1u, 2u}) {
        const Shape s{.blocks = 2, .cluster = cluster, .least = least, .fences = fences};
        report("between blocks", two_threads(s, some(6000), global(s)));
      }
      const Shape one{.blocks = 1, .least = least, .fences = fences};
      report("one block", two_threads(one, some(6000), global(one)));
      report("shared", two_threads(one, some(6000), shared(least == 1 ? 0 : 2)));
    }
  }
  const Shape hands_over{.blocks = 1, .least = 4, .fences = false, .hands_over = true};
  report("handed over in global memory", two_threads(hands_over, some(6000), global(hands_over)));
  report("handed over in shared memory", two_threads(hands_over, some(6000), shared(2)));
}

}  // namespace
}  // namespace lockstep::check
