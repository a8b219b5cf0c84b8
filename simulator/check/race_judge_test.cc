// The searches for races against the full judgement, over random programs: they never accuse what it does not, and a race of two accesses that
// nothing else interferes with is always found. Against a vector clock for every thread that orders as much as they do, verdicts are the same.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "simulator/check/lane_model.h"
#include "simulator/check/race_programs.h"

namespace lockstep::check {
namespace {

struct Counts {
  std::uint32_t accesses = 0, races = 0, found = 0;
};

// A program in which nothing races: what would is left out.
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
      // Lanes that write one place race with each other, unless they are strong.
      bool races = i.step == 0 && (i.lanes & (i.lanes - 1)) != 0 && i.access.writes && !i.access.strong;
      for (std::uint32_t l = 0; l < kLanes && !races; ++l) races = (i.lanes >> l & 1) != 0 && judge.race(of_lane(i, l)) != nullptr;
      if (races) continue;
      for (std::uint32_t l = 0; l < kLanes; ++l) {
        if (i.lanes >> l & 1) judge.access(of_lane(i, l));
      }
      text += describe(i) + "\n";
      ++done;
      ASSERT_FALSE(search->run(i)) << "program " << p << " makes a race up:\n" << text;
    }
  }
  EXPECT_GT(done, static_cast<std::uint32_t>(programs) * 10) << "programs with little in them";
}

// Programs up to their first race. The two threads that a search names for it are two that race.
template <class MakeSearch>
Counts first_races(const Shape& shape, int programs, std::size_t most_history, const MakeSearch& make_search) {
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
        // Strong accesses of different sizes count as atomic with one another: documented.
        if (other != nullptr && other->strong && i.access.strong && (other->size != i.access.size || other->first != of_lane(i, l).first)) crowded = true;
        races |= other != nullptr;
        if (found && named.lane == l) {
          EXPECT_TRUE(judge.race_with(of_lane(i, l), thread_of(named.block, named.warp, named.other_lane), named.pc))
              << "program " << p << ": " << describe(i) << "\nnames lane " << l << " against block " << named.block << " warp " << named.warp << " lane "
              << named.other_lane;
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

// One program in step with the model, up to its first race.
class InStep {
 public:
  InStep(const Shape& shape, Search& search, int program) : shape_(shape), model_(shape), search_(search), program_(program) {}

  void order(Random& random) { text_ += random_order(random, shape_, model_, search_); }
  void meeting(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) {
    model_.warp_sync(block, warp, lanes);
    search_.warp_sync(block, warp, lanes);
    text_ += "meeting of block " + std::to_string(block) + " warp " + std::to_string(warp) + " lanes " + std::to_string(lanes) + "\n";
  }
  void run(const Instruction& i, Counts& counts) {
    text_ += describe(i) + "\n";
    const bool found = search_.run(i);
    bool races = false, crowded = false;
    model_.begin(i);
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(i.lanes >> l & 1)) continue;
      const RaceJudge::Access a = of_lane(i, l);
      crowded |= model_.history(a) > 1;
      races |= model_.race(a) != nullptr;
      if (found && search_.named.lane == l) {
        const Search::Named& n = search_.named;
        EXPECT_TRUE(model_.race_with(a, thread_of(n.block, n.warp, n.other_lane), n.pc)) << "program " << program_ << " makes a race up:\n" << text_;
      }
      model_.access(a);
    }
    model_.end(i);
    if (!crowded) {
      EXPECT_EQ(found, races) << "program " << program_ << ":\n" << text_;
    }
    counts.accesses += !crowded;
    counts.races += races;
    counts.found += found;
    over_ = races || found;
  }
  bool over() const { return over_; }

 private:
  const Shape& shape_;
  LaneModel model_;
  Search& search_;
  const int program_;
  bool over_ = false;
  std::string text_;
};

// A warp writes a row, some of its lanes meet, some release at a flag, another warp acquires there and accesses the row.
void message(Random& random, const Shape& shape, InStep& program, Counts& counts) {
  const auto access = [&](std::uint32_t first, std::uint32_t lanes, std::uint32_t step, bool writes, bool strong) {
    Instruction i;
    i.lanes = lanes;
    i.step = step;
    i.access.first = first;
    i.access.size = 4;
    i.access.writes = writes;
    i.access.reads = !writes;
    i.access.strong = strong;
    i.access.releases = strong && writes;
    i.access.acquires = strong && !writes;
    i.pc = 100000 + first + 1000 * (writes + 2 * strong);
    return i;
  };
  const std::uint32_t row = 16 * random(shape.bytes / 32), flag = shape.bytes - 4 - 4 * random(4), some = 1 + random(kAllLanes);
  Instruction steps[4] = {access(row, kAllLanes, 4, true, false), access(flag, random.one_in(2) ? 1u << random(kLanes) : some, 0, true, true),
                          access(flag, 1u << random(kLanes), 0, false, true), access(row, kAllLanes, 4, random.one_in(2), false)};
  const std::uint32_t from = random(shape.blocks), to = random(shape.blocks), warp = random(kWarps);
  for (int k = 0; k < 4 && !program.over(); ++k) {
    steps[k].block = k < 2 ? from : to;
    steps[k].warp = k < 2 ? warp : from == to ? 1 - warp : random(kWarps);
    if (k == 3) steps[k].warp = steps[2].warp;
    if (k == 1 && random.one_in(2)) program.meeting(from, warp, 1 + random(kAllLanes));
    program.run(steps[k], counts);
  }
}

// Programs with many places, so that most accesses come to one that at most one other has touched: the verdicts of search and model.
template <class MakeSearch>
Counts same_verdicts(const Shape& shape, int programs, const MakeSearch& make_search) {
  Counts counts;
  for (int p = 0; p < programs && !::testing::Test::HasFailure(); ++p) {
    Random random(static_cast<std::uint64_t>(p) + 2000000);
    const std::unique_ptr<Search> search = make_search();
    InStep program(shape, *search, p);
    for (int step = 0; step < 60 && !program.over(); ++step) {
      if (random.one_in(3)) {
        program.order(random);
      } else if (random.one_in(4)) {
        message(random, shape, program, counts);
      } else {
        program.run(random_instruction(random, shape), counts);
      }
    }
  }
  return counts;
}

constexpr std::uint32_t kSizes[] = {1, 4};

class Judged : public ::testing::Test {
 protected:
  Judged() { place_ = memory_.allocate(4096, 256, memory::Kind::kDevice, 0)->base; }
  auto global(const Shape& s) {
    return [this, s]() -> std::unique_ptr<Search> { return std::make_unique<GlobalSearch>(memory_, place_, s.blocks, s.cluster); };
  }
  static auto shared(int shift, std::uint32_t bytes = 16) {
    return [shift, bytes]() -> std::unique_ptr<Search> { return std::make_unique<SharedSearch>(bytes, shift); };
  }
  memory::DeviceMemory memory_;
  std::uint64_t place_ = 0;
};

TEST_F(Judged, GlobalMemoryAccusesNothingThatDoesNotRace) {
  for (const std::uint32_t least : kSizes) {
    for (const bool fences : {false, true}) {
      for (const std::uint32_t cluster : {1u, 2u}) {
        const Shape s{.blocks = 4, .cluster = cluster, .least = least, .fences = fences};
        accuses_nothing(s, 4000, global(s));
      }
    }
    const Shape one{.blocks = 1, .least = least};
    accuses_nothing(one, 4000, global(one));
  }
}

TEST_F(Judged, SharedMemoryAccusesNothingThatDoesNotRace) {
  for (const bool fences : {false, true}) {
    accuses_nothing({.blocks = 1, .least = 4, .fences = fences}, 8000, shared(2));
    accuses_nothing({.blocks = 1, .least = 1, .fences = fences}, 8000, shared(0));
  }
}

// With at most one access to the granule before. Fences order more than they should: without them, every race is found.
TEST_F(Judged, ARaceOfTwoAccessesIsFound) {
  for (const std::uint32_t least : kSizes) {
    const Shape s{.blocks = 3, .least = least, .fences = false};
    const Counts c = first_races(s, 20000, 1, global(s));
    EXPECT_GT(c.races, 2000u);
    EXPECT_EQ(c.found, c.races);
    const Shape one{.blocks = 1, .least = least, .fences = false};
    const Counts d = first_races(one, 20000, 1, global(one));
    EXPECT_GT(d.races, 2000u);
    EXPECT_EQ(d.found, d.races);
    const Counts e = first_races(one, 20000, 1, shared(least == 1 ? 0 : 2));
    EXPECT_GT(e.races, 2000u);
    EXPECT_EQ(e.found, e.races);
  }
}

// With any history, and fences: how many are found. The rest is what constant state forgets and what fences order too much.
TEST_F(Judged, MostRacesAreFoundWhateverCameBefore) {
  const auto report = [](const char* what, const Counts& c, double least) {
    std::printf("%s: %u of %u first races found\n", what, c.found, c.races);
    EXPECT_GE(c.found, least * c.races) << what;
  };
  for (const bool fences : {false, true}) {
    const Shape s{.blocks = 3, .least = 1, .fences = fences}, one{.blocks = 1, .least = 1, .fences = fences};
    report(fences ? "global, with fences" : "global", first_races(s, 20000, 1000, global(s)), 0.98);
    report(fences ? "one block, with fences" : "one block", first_races(one, 20000, 1000, global(one)), 0.98);
    report(fences ? "shared, with fences" : "shared", first_races(one, 20000, 1000, shared(0)), 0.98);
  }
}

// Who releases, lane by lane, and whom it has met; fences, releases and acquires included. Every race of two accesses, and no other.
TEST_F(Judged, APlainVectorClockForEveryThreadSaysTheSame) {
  const auto report = [](const char* what, const Counts& c) {
    std::printf("%s: %u accesses of one place by at most two, %u of %u first races found\n", what, c.accesses, c.found, c.races);
    EXPECT_GT(c.accesses, 10000u) << what;
    EXPECT_GT(c.races, 1000u) << what;
  };
  for (const std::uint32_t cluster : {1u, 2u}) {
    const Shape s{.blocks = 2, .cluster = cluster, .least = 4, .bytes = 256};
    report("between blocks", same_verdicts(s, 2500, global(s)));
  }
  const Shape one{.blocks = 1, .least = 4, .bytes = 256}, narrow{.blocks = 1, .least = 1, .bytes = 128};
  report("one block", same_verdicts(one, 2500, global(one)));
  report("shared", same_verdicts(one, 2500, shared(2, 256)));
  report("shared, by bytes", same_verdicts(narrow, 2500, shared(0, 128)));
}

}  // namespace
}  // namespace lockstep::check
