// Random programs of a few warps, and drivers that run them on the searches for races.
// race_judge_test.cc uses them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulator/check/global_rows.h"
#include "simulator/check/race_judge.h"
#include "simulator/check/scattered_lanes.h"
#include "simulator/check/shared_races.h"

namespace lockstep::check {

inline constexpr std::uint32_t kLanes = 4, kWarps = 2;

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

// One instruction of a warp: the same access by some of its lanes. Each next lane accesses `step`
// bytes further.
struct Instruction {
  RaceJudge::Access access;
  std::uint32_t block = 0, warp = 0, lanes = 0, step = 0, pc = 0;
};

// A search for races as a program drives it: lane by lane, or by rows if the search accepts the
// row.
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
  virtual void fence(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes, Scope scope) = 0;
  virtual void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) = 0;
  virtual void block_barrier(std::uint32_t block) = 0;
  // Warp `from` arrives and does not wait, warp `to` waits.
  virtual void hand_over(std::uint32_t block, std::uint32_t from, std::uint32_t to) = 0;
};

inline constexpr std::uint32_t kAllLanes = (1u << kLanes) - 1;

inline Side side_of(SharedRaces& order, std::uint32_t block, const Instruction& i) {
  const RaceJudge::Access& a = i.access;
  return {.order = &order,
          .block = block,
          .warp = i.warp,
          .pc = i.pc,
          .strong = a.strong,
          .write = a.writes,
          .scope = a.scope,
          .updates = a.writes && (a.reads || a.reduces),
          .observes = a.writes && a.reads,
          .acquires = a.acquires,
          .releases = a.releases,
          .size = static_cast<std::uint8_t>(a.size)};
}

class GlobalSearch : public Search {
 public:
  GlobalSearch(memory::DeviceMemory& memory, std::uint64_t place, std::uint32_t blocks,
               std::uint32_t cluster)
      : memory_(memory), place_(place) {
    races_ = &shared_among_launches();
    races_->start(memory, cluster, false);
    for (std::uint32_t b = 0; b < blocks; ++b) {
      orders_.push_back(std::make_unique<SharedRaces>());
      orders_[b]->start(0, 2, b, cluster, &races_->grid());
    }
  }
  // All launches share one search, as programs do: a launch meets the records of the launch before.
  static GlobalRaces& shared_among_launches() {
    static GlobalRaces races;
    return races;
  }

  bool run(const Instruction& i) override {
    SharedRaces& order = *orders_[i.block];
    const bool found = check(i);
    if (i.access.releases) order.end_release(i.warp);
    if (i.access.acquires) order.put_together(i.warp, kAllLanes);
    return found;
  }
  void fence(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes, Scope scope) override {
    orders_[block]->fence(warp, lanes, lanes == kAllLanes, scope);
  }
  void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) override {
    orders_[block]->warp_sync(warp, lanes, lanes == kAllLanes);
  }
  void block_barrier(std::uint32_t block) override { orders_[block]->block_barrier(); }
  void hand_over(std::uint32_t block, std::uint32_t from, std::uint32_t to) override {
    orders_[block]->arrive(from, 1);
    orders_[block]->arrive(to, 1);
    orders_[block]->complete(1, 1u << to);
  }

 private:
  bool check(const Instruction& i) {
    const RaceJudge::Access& a = i.access;
    GlobalRaces::Access me(*races_, side_of(*orders_[i.block], i.block, i), memo_);
    first_records_.resize(orders_.size());
    if (first_records_[i.block] == 0)
      first_records_[i.block] = races_->records().least_to_come(memo_.records);
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcount(i.lanes)),
                        lane = static_cast<std::uint32_t>(__builtin_ctz(i.lanes));
    GlobalCell* const cells = cell_of(memory_, place_ + a.first + lane * i.step);
    if (a.size >= 4 && i.lanes >> lane == (1u << count) - 1) {
      // A single lane is a row, too.
      const bool row = count == 1 ? ++single_lanes_ % 2 == 0 : i.step == a.size,
                 together = !row && i.step == 0 && (!a.writes || a.reads || a.reduces);
      if (together ? record_one_place(*races_, cells, a.size / 4, lane, lane + count - 1, me)
                   : row && record_row(*races_, cells, a.size / 4, lane, count, me)) {
        return false;
      }
    }
    // Every other instruction goes lane by lane from the start.
    const std::uint32_t left = ++instructions_ % 2 == 0 ? i.lanes : i.lanes & ~scattered(i, me);
    bool found = false;
    LaneAccess conflict;
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(left >> l & 1)) continue;
      const std::uint32_t first = a.first + l * i.step, last = first + a.size - 1;
      for (std::uint32_t g = first & ~3u; g <= last; g += 4) {
        const std::uint32_t from = std::max(first, g) - g, to = std::min(last, g + 3) - g;
        if (!races_->access(*cell_of(memory_, place_ + g),
                            ((1u << (to + 1)) - 1) & ~((1u << from) - 1), l, me, conflict) ||
            found)
          continue;
        named = {l, conflict.record.block, conflict.record.warp, conflict.lane, conflict.record.pc};
        found = true;
      }
    }
    return found;
  }

  // The lanes that record_scattered() takes.
  std::uint32_t scattered(const Instruction& i, GlobalRaces::Access& me) {
    std::uint64_t address[32] = {};
    for (std::uint32_t l = 0; l < kLanes; ++l) address[l] = place_ + i.access.first + l * i.step;
    return record_scattered(*races_, memory_,
                            {address, 0, i.access.size, i.lanes, first_records_[i.block]}, me);
  }

  memory::DeviceMemory& memory_;
  const std::uint64_t place_;
  GlobalRaces* races_;
  GlobalRaces::Memo memo_;
  std::uint32_t instructions_ = 0, single_lanes_ = 0;
  // By block: no record of it has a number below this one. 0: it has accessed nothing yet.
  std::vector<std::uint32_t> first_records_;
  std::vector<std::unique_ptr<SharedRaces>> orders_;
};

class SharedSearch : public Search {
 public:
  SharedSearch(std::uint32_t bytes, int shift) { races_.start(bytes, shift); }
  bool run(const Instruction& i) override {
    const RaceJudge::Access& a = i.access;
    const bool found = check(i);
    if (a.releases) races_.end_release(i.warp);
    if (a.acquires) races_.put_together(i.warp, kAllLanes);
    return found;
  }
  void fence(std::uint32_t, std::uint32_t warp, std::uint32_t lanes, Scope scope) override {
    races_.fence(warp, lanes, lanes == kAllLanes, scope);
  }
  void warp_sync(std::uint32_t, std::uint32_t warp, std::uint32_t lanes) override {
    races_.warp_sync(warp, lanes, lanes == kAllLanes);
  }
  void block_barrier(std::uint32_t) override { races_.block_barrier(); }
  void hand_over(std::uint32_t, std::uint32_t from, std::uint32_t to) override {
    races_.arrive(from, 1);
    races_.arrive(to, 1);
    races_.complete(1, 1u << to);
  }

 private:
  enum class Way { kTogether, kRow, kLanes, kOneByOne };
  // How the search is asked about an access by `count` lanes from `lane` on. A single lane fits
  // every way, so these take turns.
  Way way(const Instruction& i, std::uint32_t lane, std::uint32_t count) {
    const bool writes = i.access.writes;
    if (count == 1) {
      if (writes) return ++asked_ % 2 == 0 ? Way::kRow : Way::kOneByOne;
      return static_cast<Way>(++asked_ % 4);
    }
    if (i.lanes >> lane != (1u << count) - 1) return writes ? Way::kOneByOne : Way::kLanes;
    if (i.step == 0) return writes ? Way::kOneByOne : Way::kTogether;
    return i.step == 4 ? Way::kRow : Way::kOneByOne;
  }
  bool check(const Instruction& i) {
    const RaceJudge::Access& a = i.access;
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcount(i.lanes)),
                        lane = static_cast<std::uint32_t>(__builtin_ctz(i.lanes));
    const std::uint32_t first = (a.first + lane * i.step) >> 2;
    if (races_.shift() == 2 && a.size == 4) {
      switch (way(i, lane, count)) {
        case Way::kTogether:
          if (races_.read_together(first, lane, lane + count - 1, i.warp, i.pc, a.strong))
            return false;
          break;
        case Way::kRow:
          if (a.writes ? races_.write_row(first, lane, count, i.warp, i.pc, a.strong)
                       : races_.read_row(first, lane, count, i.warp, i.pc, a.strong))
            return false;
          break;
        case Way::kLanes: {
          std::uint32_t offsets[32] = {};
          for (std::uint32_t l = 0; l < kLanes; ++l) offsets[l] = a.first + l * i.step;
          if (races_.read_lanes(offsets, i.lanes, i.warp, i.pc, a.strong)) return false;
          break;
        }
        case Way::kOneByOne: break;
      }
    }
    if (races_.shift() == 2 && a.size == 4 && a.writes && (a.reads || a.reduces)) {
      std::uint64_t offsets[32] = {};
      for (std::uint32_t l = 0; l < kLanes; ++l) offsets[l] = a.first + l * i.step;
      if (races_.write_lanes_strongly(offsets, i.lanes, side_of(races_, 0, i))) return false;
    }
    bool found = false;
    SharedRaces::Conflict conflict;
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      if (!(i.lanes >> l & 1) ||
          !races_.access(a.first + l * i.step, a.size, l, side_of(races_, 0, i), conflict) || found)
        continue;
      named = {l, i.block, conflict.other_thread / 32, conflict.other_thread % 32,
               conflict.other_pc};
      found = true;
    }
    return found;
  }

  SharedRaces races_;
  std::uint32_t asked_ = 0;
};

struct Shape {
  std::uint32_t blocks = 3, cluster = 1;
  std::uint32_t least = 1;  // bytes of an access
  bool fences = true;       // and accesses that acquire or release
  std::uint32_t bytes = 16;
  bool hands_over = false;  // only the accesses of random_hand_over()
};

inline std::uint32_t thread_of(std::uint32_t block, std::uint32_t warp, std::uint32_t lane) {
  return (block * kWarps + warp) * kLanes + lane;
}

inline std::vector<std::uint32_t> threads_of(std::uint32_t block, std::uint32_t warp,
                                             std::uint32_t lanes) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    if (lanes >> l & 1) threads.push_back(thread_of(block, warp, l));
  }
  return threads;
}

// The reference judge, driven by the same program as a search.
class Judge : public RaceJudge {
 public:
  using RaceJudge::fence;
  explicit Judge(const Shape& s) : RaceJudge(threads(s), s.cluster, s.bytes) {}
  void block_barrier(std::uint32_t block) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      for (const std::uint32_t t : threads_of(block, w, kAllLanes)) all.push_back(t);
    }
    barrier(all, all, true);
  }
  void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) {
    barrier(threads_of(block, warp, lanes), threads_of(block, warp, lanes), false);
  }
  void hand_over(std::uint32_t block, std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> both = threads_of(block, from, kAllLanes);
    const std::vector<std::uint32_t> waiting = threads_of(block, to, kAllLanes);
    both.insert(both.end(), waiting.begin(), waiting.end());
    barrier(both, waiting, true);
  }
  void fence(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes, Scope scope) {
    if (lanes == kAllLanes) {
      RaceJudge::fence(threads_of(block, warp, lanes), scope);
    } else {
      for (const std::uint32_t t : threads_of(block, warp, lanes)) RaceJudge::fence(t, scope);
    }
  }

 private:
  static std::vector<Thread> threads(const Shape& s) {
    std::vector<Thread> all;
    for (std::uint32_t b = 0; b < s.blocks; ++b) {
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        for (std::uint32_t l = 0; l < kLanes; ++l) all.push_back({b, w, l});
      }
    }
    return all;
  }
};

inline Scope random_scope(Random& random) {
  return static_cast<Scope>(random.one_in(3) ? random(3) : 2);
}

inline Instruction random_instruction(Random& random, const Shape& s) {
  Instruction i;
  i.block = random(s.blocks);
  i.warp = random(kWarps);
  RaceJudge::Access& a = i.access;
  a.size = std::max(s.least, 1u << random(4));
  const std::uint32_t places = s.bytes / a.size;
  // One lane; or several lanes, each at its own element or all at one element.
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
  // The same kind of access always has the same program counter.
  i.pc = a.first +
         s.bytes * (a.size + 16 * (what + 8 * a.strong + 16 * static_cast<std::uint32_t>(a.scope) +
                                   64 * (i.step != 0) + 128 * a.acquires + 256 * a.releases));
  return i;
}

// Of a program whose threads release and acquire at word 0, and read word 1 or, rarely, write it.
inline Instruction random_hand_over(Random& random) {
  Instruction i;
  RaceJudge::Access& a = i.access;
  a.size = 4;
  a.strong = random.one_in(3);
  a.first = a.strong ? 0 : 4;
  a.writes = a.strong ? random.one_in(2) : random.one_in(6);
  a.reads = !a.writes;
  a.reduces = a.strong && a.writes;
  a.releases = a.strong && a.writes;
  a.acquires = a.strong && a.reads;
  a.scope = Scope::kBlock;
  i.pc = a.first + 16u * a.writes;
  return i;
}

inline RaceJudge::Access of_lane(const Instruction& i, std::uint32_t lane) {
  RaceJudge::Access a = i.access;
  a.first += lane * i.step;
  a.thread = thread_of(i.block, i.warp, lane);
  a.pc = i.pc;
  return a;
}

// Applies a random ordering operation to both the judge and the search. Returns its description.
template <class Judge>
std::string random_order(Random& random, const Shape& s, Judge& judge, Search& search) {
  const std::uint32_t block = random(s.blocks), warp = random(kWarps);
  const std::string who = " of block " + std::to_string(block) + " warp " + std::to_string(warp);
  switch (random(s.fences ? 5 : 3)) {
    case 0:
      judge.block_barrier(block);
      search.block_barrier(block);
      return "barrier" + who + "\n";
    case 1: {
      const std::uint32_t lanes = random.one_in(2) ? kAllLanes : 1 + random(kAllLanes);
      judge.warp_sync(block, warp, lanes);
      search.warp_sync(block, warp, lanes);
      return "meeting" + who + " lanes " + std::to_string(lanes) + "\n";
    }
    case 2:
      judge.hand_over(block, warp, 1 - warp);
      search.hand_over(block, warp, 1 - warp);
      return "arrival" + who + "\n";
    default: {
      const Scope scope = random_scope(random);
      const std::uint32_t lanes = 1 + random(kAllLanes);
      judge.fence(block, warp, lanes, scope);
      search.fence(block, warp, lanes, scope);
      return "fence" + who + " lanes " + std::to_string(lanes) + " scope " +
             std::to_string(static_cast<int>(scope)) + "\n";
    }
  }
}

inline std::string describe(const Instruction& i) {
  const RaceJudge::Access& a = i.access;
  return "block " + std::to_string(i.block) + " warp " + std::to_string(i.warp) + " lanes " +
         std::to_string(i.lanes) + (a.strong ? " strong" : " weak") +
         (a.reads     ? a.writes ? " update" : " read"
          : a.reduces ? " reduction"
                      : " write") +
         " of " + std::to_string(a.size) + " bytes at " + std::to_string(a.first) + " step " +
         std::to_string(i.step) + " scope " + std::to_string(static_cast<int>(a.scope)) +
         (a.acquires ? " acquire" : "") + (a.releases ? " release" : "");
}

}  // namespace lockstep::check
