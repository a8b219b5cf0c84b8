// The searches for races against the full judgement, over random programs: they never accuse what it does not, and a race of two accesses that
// nothing else interferes with is always found.
#include "simulator/check/race_judge.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "simulator/check/shared_races.h"

namespace lockstep::check {
namespace {

constexpr std::uint32_t kLanes = 4, kWarps = 2, kBytes = 16;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint32_t operator()(std::uint32_t n) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>((state_ >> 33) % n);
  }
  bool one_in(std::uint32_t n) { return (*this)(n) == 0; }

 private:
  std::uint64_t state_;
};

// One instruction of a warp: the same access by some of its lanes, `step` bytes further for every next one.
struct Instruction {
  RaceJudge::Access access;
  std::uint32_t block = 0, warp = 0, lanes = 0, step = 0, pc = 0;
};

// What a program does to a search for races; lane by lane, or at once where the search takes it.
class Search {
 public:
  virtual ~Search() = default;
  // The first lane of the last instruction that raced, and against what.
  struct Named {
    std::uint32_t lane = 0, block = 0, warp = 0, other_lane = 0, pc = 0;
  };
  Named named;
  // Whether one of the lanes races.
  virtual bool run(const Instruction& i) = 0;
  virtual void fence(std::uint32_t block, std::uint32_t warp, Scope scope) = 0;
  virtual void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) = 0;
  virtual void block_barrier(std::uint32_t block) = 0;
  // Warp `from` arrives and does not wait, warp `to` waits.
  virtual void hand_over(std::uint32_t block, std::uint32_t from, std::uint32_t to) = 0;
};

constexpr std::uint32_t kAllLanes = (1u << kLanes) - 1;

class GlobalSearch : public Search {
 public:
  GlobalSearch(memory::DeviceMemory& memory, std::uint64_t place, std::uint32_t blocks, std::uint32_t cluster) : memory_(memory), place_(place) {
    races_ = &shared_among_launches();
    races_->start(memory, cluster, false);
    for (std::uint32_t b = 0; b < blocks; ++b) {
      orders_.push_back(std::make_unique<SharedRaces>());
      orders_[b]->start(0, 2);
      block_clocks_.emplace_back().start(b);
    }
  }
  // A launch finds what the one before it has left, as programs do.
  static GlobalRaces& shared_among_launches() {
    static GlobalRaces races;
    return races;
  }

  bool run(const Instruction& i) override {
    const RaceJudge::Access& a = i.access;
    BlockClock& block_clock = block_clocks_[i.block];
    const bool between_blocks = a.scope != Scope::kBlock;
    if (a.releases) fence_of_block(i.block, i.warp);
    const ReleaseClock done = block_clock.done(*orders_[i.block], i.warp);
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(i.lanes >> l & 1) || !a.writes || !a.strong || !between_blocks || !(a.releases || block_clock.has_released())) continue;
      races_->grid().leave(place_ + a.first + l * i.step, block_clock, a.releases ? &done : nullptr);
    }
    const bool found = check(i);
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(i.lanes >> l & 1) || !a.reads || !a.strong || !between_blocks) continue;
      races_->grid().find(place_ + a.first + l * i.step, block_clock, i.warp, a.acquires);
    }
    if (a.acquires) fence_of_block(i.block, i.warp);
    return found;
  }
  void fence(std::uint32_t block, std::uint32_t warp, Scope scope) override {
    fence_of_block(block, warp);
    if (scope != Scope::kBlock) block_clocks_[block].fence(*orders_[block], warp, races_->grid());
  }
  void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) override { orders_[block]->warp_sync(warp, lanes, lanes == kAllLanes); }
  void block_barrier(std::uint32_t block) override {
    orders_[block]->block_barrier();
    block_clocks_[block].barrier(races_->grid());
  }
  void hand_over(std::uint32_t block, std::uint32_t from, std::uint32_t to) override {
    orders_[block]->arrive(from, 1);
    orders_[block]->arrive(to, 1);
    orders_[block]->complete(1, 1u << to);
    block_clocks_[block].barrier(races_->grid());
  }

 private:
  void fence_of_block(std::uint32_t block, std::uint32_t warp) {
    orders_[block]->fence(warp);
    block_clocks_[block].pass_on(warp);
  }
  bool check(const Instruction& i) {
    const RaceJudge::Access& a = i.access;
    GlobalRaces::Access me(*races_, {orders_[i.block].get(), &block_clocks_[i.block], i.block, i.warp, i.pc, a.strong, a.writes, a.scope, a.reads && a.writes},
                           memo_);
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcount(i.lanes)), lane = static_cast<std::uint32_t>(__builtin_ctz(i.lanes));
    RaceCell* const cells = memory_.race_shadow(place_ + a.first + lane * i.step);
    if (a.size >= 4 && i.lanes >> lane == (1u << count) - 1) {
      const bool together = i.step == 0 && (!a.writes || a.reads || a.reduces);
      if (together ? races_->together(cells, a.size / 4, lane, lane + count - 1, me) : i.step == a.size && races_->row(cells, a.size / 4, lane, count, me)) {
        return false;
      }
    }
    bool found = false;
    GlobalRaces::Conflict conflict;
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(i.lanes >> l & 1)) continue;
      const std::uint32_t first = a.first + l * i.step, last = first + a.size - 1;
      for (std::uint32_t g = first & ~3u; g <= last; g += 4) {
        const std::uint32_t from = std::max(first, g) - g, to = std::min(last, g + 3) - g;
        if (!races_->access(*memory_.race_shadow(place_ + g), ((1u << (to + 1)) - 1) & ~((1u << from) - 1), l, me, conflict) || found) continue;
        named = {l, conflict.other.block, conflict.other.warp, conflict.other_lane, conflict.other.pc};
        found = true;
      }
    }
    return found;
  }

  memory::DeviceMemory& memory_;
  const std::uint64_t place_;
  GlobalRaces* races_;
  GlobalRaces::Memo memo_;
  std::vector<std::unique_ptr<SharedRaces>> orders_;
  std::vector<BlockClock> block_clocks_;
};

class SharedSearch : public Search {
 public:
  explicit SharedSearch(int shift) { races_.start(kBytes, shift); }
  bool run(const Instruction& i) override {
    const RaceJudge::Access& a = i.access;
    if (a.releases) races_.fence(i.warp);
    const bool found = check(i);
    if (a.acquires) races_.fence(i.warp);
    return found;
  }
  void fence(std::uint32_t, std::uint32_t warp, Scope) override { races_.fence(warp); }
  void warp_sync(std::uint32_t, std::uint32_t warp, std::uint32_t lanes) override { races_.warp_sync(warp, lanes, lanes == kAllLanes); }
  void block_barrier(std::uint32_t) override { races_.block_barrier(); }
  void hand_over(std::uint32_t, std::uint32_t from, std::uint32_t to) override {
    races_.arrive(from, 1);
    races_.arrive(to, 1);
    races_.complete(1, 1u << to);
  }

 private:
  bool check(const Instruction& i) {
    const RaceJudge::Access& a = i.access;
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcount(i.lanes)), lane = static_cast<std::uint32_t>(__builtin_ctz(i.lanes));
    const std::uint32_t first = (a.first + lane * i.step) >> 2;
    if (races_.shift() == 2 && a.size == 4 && i.lanes >> lane == (1u << count) - 1) {
      if (i.step == 0 && !a.writes) {
        if (races_.read_together(first, lane, lane + count - 1, i.warp, i.pc, a.strong)) return false;
      } else if (i.step == 4) {
        if (a.writes ? races_.write_row(first, lane, count, i.warp, i.pc, a.strong) : races_.read_row(first, lane, count, i.warp, i.pc, a.strong)) return false;
      }
    } else if (races_.shift() == 2 && a.size == 4 && !a.writes) {
      std::uint32_t offsets[32] = {};
      for (std::uint32_t l = 0; l < kLanes; ++l) offsets[l] = a.first + l * i.step;
      if (races_.read_lanes(offsets, i.lanes, i.warp, i.pc, a.strong)) return false;
    }
    if (races_.shift() == 2 && a.size == 4 && a.writes && (a.reads || a.reduces)) {
      std::uint64_t offsets[32] = {};
      for (std::uint32_t l = 0; l < kLanes; ++l) offsets[l] = a.first + l * i.step;
      if (races_.write_lanes_strongly(offsets, i.lanes, i.warp, i.pc)) return false;
    }
    bool found = false;
    SharedRaces::Conflict conflict;
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(i.lanes >> l & 1) || !races_.access(a.first + l * i.step, a.size, i.warp * 32 + l, i.pc, a.writes, a.strong, conflict) || found) continue;
      named = {l, i.block, conflict.other_thread / 32, conflict.other_thread % 32, conflict.other_pc};
      found = true;
    }
    return found;
  }

  SharedRaces races_;
};

struct Shape {
  std::uint32_t blocks = 3, cluster = 1;
  std::uint32_t least = 1;  // bytes of an access
  bool fences = true;       // and accesses that acquire or release
};

std::uint32_t thread_of(std::uint32_t block, std::uint32_t warp, std::uint32_t lane) { return (block * kWarps + warp) * kLanes + lane; }

RaceJudge judge_of(const Shape& s) {
  std::vector<RaceJudge::Thread> threads;
  for (std::uint32_t b = 0; b < s.blocks; ++b) {
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      for (std::uint32_t l = 0; l < kLanes; ++l) threads.push_back({b, w, l});
    }
  }
  return RaceJudge(std::move(threads), s.cluster, kBytes);
}

std::vector<std::uint32_t> threads_of(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    if (lanes >> l & 1) threads.push_back(thread_of(block, warp, l));
  }
  return threads;
}

Scope random_scope(Random& random) { return static_cast<Scope>(random.one_in(3) ? random(3) : 2); }

Instruction random_instruction(Random& random, const Shape& s) {
  Instruction i;
  i.block = random(s.blocks);
  i.warp = random(kWarps);
  RaceJudge::Access& a = i.access;
  a.size = std::max(s.least, 1u << random(4));
  const std::uint32_t places = kBytes / a.size;
  // One lane; or several, each at its own element or all at one.
  const std::uint32_t most = std::min(kLanes, places);
  if (random.one_in(2)) {
    i.lanes = 1u << random(kLanes);
  } else {
    i.lanes = ((1u << (1 + random(most))) - 1) & kAllLanes;
    i.step = random.one_in(3) ? 0 : a.size;
  }
  const std::uint32_t count = 32 - static_cast<std::uint32_t>(__builtin_clz(i.lanes));
  a.first = a.size * random(i.step == 0 ? places : places - count + 1);
  a.strong = random.one_in(2);
  const std::uint32_t what = random(a.strong ? 5 : 2);
  a.reads = what == 0 || what >= 3;
  a.writes = what != 0;
  a.reduces = what == 2;
  if (a.strong) {
    a.scope = random_scope(random);
    if (s.fences && random.one_in(4)) {
      a.acquires = a.reads && random.one_in(2);
      a.releases = a.writes && random.one_in(2);
    }
  }
  // An instruction is always the same one.
  i.pc = a.first + kBytes * (a.size + 16 * (what + 8 * a.strong + 16 * static_cast<std::uint32_t>(a.scope) + 64 * (i.step != 0)));
  return i;
}

RaceJudge::Access of_lane(const Instruction& i, std::uint32_t lane) {
  RaceJudge::Access a = i.access;
  a.first += lane * i.step;
  a.thread = thread_of(i.block, i.warp, lane);
  a.pc = i.pc;
  return a;
}

// Something that orders, to both.
void random_order(Random& random, const Shape& s, RaceJudge& judge, Search& search) {
  const std::uint32_t block = random(s.blocks), warp = random(kWarps);
  switch (random(s.fences ? 5 : 3)) {
    case 0: {
      std::vector<std::uint32_t> all;
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        for (const std::uint32_t t : threads_of(block, w, kAllLanes)) all.push_back(t);
      }
      judge.barrier(all, all);
      search.block_barrier(block);
      break;
    }
    case 1: {
      const std::uint32_t lanes = random.one_in(2) ? kAllLanes : 1 + random(kAllLanes);
      judge.barrier(threads_of(block, warp, lanes), threads_of(block, warp, lanes));
      search.warp_sync(block, warp, lanes);
      break;
    }
    case 2: {
      std::vector<std::uint32_t> both = threads_of(block, warp, kAllLanes), to = threads_of(block, 1 - warp, kAllLanes);
      both.insert(both.end(), to.begin(), to.end());
      judge.barrier(both, to);
      search.hand_over(block, warp, 1 - warp);
      break;
    }
    default: {
      const Scope scope = random_scope(random);
      const std::uint32_t lanes = 1 + random(kAllLanes);
      for (const std::uint32_t t : threads_of(block, warp, lanes)) judge.fence(t, scope);
      search.fence(block, warp, scope);
    }
  }
}

std::string describe(const Instruction& i) {
  const RaceJudge::Access& a = i.access;
  return "block " + std::to_string(i.block) + " warp " + std::to_string(i.warp) + " lanes " + std::to_string(i.lanes) + (a.strong ? " strong" : " weak") +
         (a.reads     ? a.writes ? " update" : " read"
          : a.reduces ? " reduction"
                      : " write") +
         " of " + std::to_string(a.size) + " bytes at " + std::to_string(a.first) + " step " + std::to_string(i.step) + " scope " +
         std::to_string(static_cast<int>(a.scope)) + (a.acquires ? " acquire" : "") + (a.releases ? " release" : "");
}

struct Counts {
  std::uint32_t accesses = 0, races = 0, found = 0;
};

// A program in which nothing races: what would is left out.
template <class MakeSearch>
void accuses_nothing(const Shape& shape, int programs, const MakeSearch& make_search) {
  std::uint32_t done = 0;
  for (int p = 0; p < programs; ++p) {
    Random random(static_cast<std::uint64_t>(p));
    RaceJudge judge = judge_of(shape);
    const std::unique_ptr<Search> search = make_search();
    std::string text;
    for (int step = 0; step < 80; ++step) {
      if (random.one_in(4)) {
        random_order(random, shape, judge, *search);
        text += "something that orders\n";
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
    RaceJudge judge = judge_of(shape);
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

constexpr std::uint32_t kSizes[] = {1, 4};

class Judged : public ::testing::Test {
 protected:
  Judged() { place_ = memory_.allocate(4096, 256, memory::Kind::kDevice, 0)->base; }
  auto global(const Shape& s) {
    return [this, s]() -> std::unique_ptr<Search> { return std::make_unique<GlobalSearch>(memory_, place_, s.blocks, s.cluster); };
  }
  static auto shared(int shift) {
    return [shift]() -> std::unique_ptr<Search> { return std::make_unique<SharedSearch>(shift); };
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
    report(fences ? "global, with fences" : "global", first_races(s, 20000, 1000, global(s)), fences ? 0.9 : 0.95);
    report(fences ? "one block, with fences" : "one block", first_races(one, 20000, 1000, global(one)), fences ? 0.8 : 0.9);
    report(fences ? "shared, with fences" : "shared", first_races(one, 20000, 1000, shared(0)), fences ? 0.8 : 0.9);
  }
}

}  // namespace
}  // namespace lockstep::check
