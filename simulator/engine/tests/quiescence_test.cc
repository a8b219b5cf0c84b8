// Explores the quiescence protocol in all orders of the operations of two and three members, with
// two or three switches away from a member that could continue. The members are fibres; each
// operation on shared state is a possible switch.
#include "simulator/engine/state/quiescence.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::engine {
namespace {

// Runs fibres, one operation at a time, and repeats the run with another order until all orders are
// done.
class Explorer {
 public:
  explicit Explorer(int preemptions) : most_preemptions_(preemptions) {}
  // Call before an operation: another member may run first.
  static void point() { current->yield(false); }
  // Call after looking at everything: another member must run.
  static void pause() { current->yield(true); }

  // `begin` returns the bodies of a run; `end` checks it. Returns the number of runs.
  int explore(const std::function<std::vector<std::function<void()>>()>& begin,
              const std::function<void()>& end) {
    current = this;
    int runs = 0;
    do {
      at_ = 0, preemptions_ = 0;
      start(begin());
      // Cuts off a run in which members alternate for ever.
      for (int steps = 0; steps < 2000 && next(); ++steps)
        swapcontext(&main_, &fibres_[running_]->context);
      end();
      ++runs;
    } while (!::testing::Test::HasFailure() && another());
    return runs;
  }

 private:
  struct Fibre {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 * 1024);
    std::function<void()> body;
    bool ended = false, pauses = false;
  };
  struct Choice {
    std::size_t taken, options;
  };

  static void enter() {
    Fibre& f = *current->fibres_[current->running_];
    f.body();
    f.ended = true;
    swapcontext(&f.context, &current->main_);
  }
  void start(std::vector<std::function<void()>> bodies) {
    fibres_.clear();
    for (auto& body : bodies) {
      fibres_.push_back(std::make_unique<Fibre>());
      Fibre& f = *fibres_.back();
      f.body = std::move(body);
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.data();
      f.context.uc_stack.ss_size = f.stack.size();
      f.context.uc_link = nullptr;
      makecontext(&f.context, &enter, 0);
    }
    running_ = 0;
  }
  void yield(bool pauses) {
    Fibre& f = *fibres_[running_];
    f.pauses = pauses;
    swapcontext(&f.context, &main_);
  }
  // Chooses the next member: the current one, or at a cost of one another. After a member that
  // pauses or has ended, the others follow in turn.
  bool next() {
    const std::size_t n = fibres_.size();
    std::vector<std::size_t> who;
    const bool stays = !fibres_[running_]->ended && !fibres_[running_]->pauses;
    if (stays) who.push_back(running_);
    if (!stays || preemptions_ < most_preemptions_) {
      for (std::size_t i = 1; i <= n; ++i) {
        const std::size_t other = (running_ + i) % n;
        if (!fibres_[other]->ended && !(stays && other == running_)) who.push_back(other);
      }
    }
    if (who.empty()) return false;
    if (at_ == choices_.size()) choices_.push_back({0, stays ? who.size() : 1});
    const std::size_t taken = choices_[at_++].taken;
    preemptions_ += stays && taken != 0;
    running_ = who[taken];
    fibres_[running_]->pauses = false;
    return true;
  }
  bool another() {
    choices_.resize(at_);
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options)
      choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

  static Explorer* current;
  ucontext_t main_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::size_t running_ = 0;
  std::vector<Choice> choices_;
  std::size_t at_ = 0;
  const int most_preemptions_;
  int preemptions_ = 0;
};
Explorer* Explorer::current = nullptr;

template <class T>
class Stepwise {
 public:
  explicit Stepwise(T value = 0) : value_(value) {}
  T load() const { return Explorer::point(), value_; }
  void store(T v) { Explorer::point(), value_ = v; }
  T fetch_add(T n) {
    Explorer::point();
    const T old = value_;
    value_ += n;
    return old;
  }

 private:
  T value_;
};

// A chain of blocks: each waits for its flag and sets the flag of the next. A member has found
// nothing new if its turns repeat within one epoch.
struct Chain {
  // With `begun` flags[0] is set from the start.
  Chain(bool begun, std::vector<std::vector<std::size_t>> of_member)
      : flags(4), board(of_member.size()), members(std::move(of_member)) {
    flags[0] = Stepwise<int>(begun);
  }

  void run(std::size_t number) {
    QuiescenceMember<Stepwise> member(board, number);
    std::vector<std::size_t> mine = members[number];
    std::uint64_t changes = 0;
    struct Turn {
      std::uint64_t changes = ~0ull, epoch = 0;
      bool repeats = false;
    };
    std::vector<Turn> turns(flags.size());
    while (!mine.empty() && verdicts == 0) {
      bool still = true;
      for (std::size_t i = 0; i < mine.size();) {
        const std::size_t block = mine[i];
        if (flags[block].load() != 0) {
          flags[block + 1].store(1);
          ++changes;
          mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(i));
          still = false;
          continue;
        }
        Turn& t = turns[block];
        const std::uint64_t epoch = board.epoch.load();
        t = {changes, epoch, t.changes == changes && t.epoch == epoch};
        still = still && t.repeats;
        ++i;
      }
      if (mine.empty()) break;
      if (member.after_time_slices(changes, still, mine.front())) {
        if (verdicts++ == 0) speaker = number;
        break;
      }
      Explorer::pause();
    }
    member.leave(changes);
  }
  std::vector<std::function<void()>> bodies() {
    std::vector<std::function<void()>> all;
    for (std::size_t i = 0; i < members.size(); ++i) all.push_back([this, i] { run(i); });
    return all;
  }

  std::vector<Stepwise<int>> flags;
  QuiescenceBoard<Stepwise> board;
  std::vector<std::vector<std::size_t>> members;
  int verdicts = 0;
  std::size_t speaker = 0;  // the first member that speaks
};

int explore(bool begun, const std::vector<std::vector<std::size_t>>& members,
            const std::function<void(const Chain&)>& judge) {
  std::unique_ptr<Chain> chain;
  return Explorer(begun ? 3 : 2)
      .explore(
          [&] {
            chain = std::make_unique<Chain>(begun, members);
            return chain->bodies();
          },
          [&] { judge(*chain); });
}

TEST(Quiescence, AChainThatGoesOnIsNeverQuiet) {
  const std::vector<std::vector<std::vector<std::size_t>>> kDivisions = {
      {{0}, {1}}, {{1}, {0}}, {{0, 2}, {1}}, {{1}, {0, 2}}, {{0, 1}, {2}}, {{0}, {1}, {2}}};
  for (const auto& members : kDivisions) {
    const int runs = explore(true, members, [](const Chain& c) { ASSERT_EQ(c.verdicts, 0); });
    EXPECT_GT(runs, 100);
  }
}

TEST(Quiescence, AChainThatNobodyBeginsIsQuietAndTheFirstSpeaks) {
  for (const auto& members : std::vector<std::vector<std::vector<std::size_t>>>{
           {{0}, {1}}, {{1}, {0, 2}}, {{0}, {1}, {2}}}) {
    explore(false, members, [&](const Chain& c) {
      ASSERT_GE(c.verdicts, 1);
      ASSERT_EQ(members[c.speaker][0], 0u);
    });
  }
}

// Block 2 waits for a flag of block 1, which waits for ever; the member of block 0 has left.
TEST(Quiescence, WhoHasGoneIsWaitedForNoLonger) {
  explore(true, {{0}, {2}}, [](const Chain& c) { ASSERT_EQ(c.verdicts, 1); });
}

}  // namespace
}  // namespace lockstep::engine
