// The protocol by which host threads agree that none of them will ever change memory again.
// livelock.h uses it. The proof that it is correct is below.
//
// A member is a host thread that runs blocks. It changes memory, it reads memory, and after each
// round over its blocks it calls after_time_slices(). It passes `still` if everything that it runs
// only repeats itself: each warp has returned to an earlier state, and since then the member has
// changed nothing and the epoch has been the same. The epoch counts how often members have
// announced changes.
//
// Claim: when after_time_slices() returns true, nobody will change anything any more (as long as
// the host does not).
//
//   Definitions. A member is quiet in epoch E when it has stored E + 1 in its place. It does so
//   only at the second of two consecutive calls (the first may be look_again). The time between
//   the two calls is its window. Throughout the window the epoch was E, and the member made no
//   change of its own. A member that returns true has found all members quiet in E, or gone, and
//   afterwards the epoch still E. Epochs only grow. So the epoch was E in every window, and from
//   each window's end until the return.
//
//   Case 1: changes made before the end of their maker's window, or by a member that has gone.
//   They were announced by after_time_slices() at the window's end at the latest, or by leave(),
//   which announces changes BEFORE it marks the member as gone. An announcement adds one to the
//   epoch, which has been E since the first window began. So they were announced before all
//   windows. A member that read the epoch in its window has seen them, because the operations on
//   the epoch order them.
//
//   Case 2: changes made after the end of their maker's window. Consider the first of them. Its
//   maker repeated itself during its window, and does so until it sees a change that it did not
//   see in the window. That change would have been made after some window, too, and earlier than
//   the first: a contradiction.
//
// A host thread whose blocks have not started is a member from the beginning. Its place holds 0: it
// is quiet in no epoch. New blocks start only where others have ended, which is a change, or where
// a member is not still.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::engine {

// Atomic: std::atomic, or a test's replacement that tries all orders of the members' operations.
template <template <class> class Atomic>
struct QuiescenceBoard {
  struct Place {
    Atomic<std::uint64_t> quiet{
        0};  // the epoch in which the member is quiet, plus one; 0: none; or kGone
    Atomic<std::uint64_t> position{0};  // of its first block, in the schedule
  };
  static constexpr std::uint64_t kGone = ~std::uint64_t{0};

  explicit QuiescenceBoard(std::size_t members) : places(members) {}
  Atomic<std::uint64_t> epoch{0};
  std::vector<Place> places;
};

template <template <class> class Atomic>
class QuiescenceMember {
 public:
  using Board = QuiescenceBoard<Atomic>;
  QuiescenceMember(Board& board, std::size_t number) : board_(board), number_(number) {}

  // Call after each round. `changes`: the member's own count so far. `position`: of its first
  // block. Returns true if all members are quiet and this member's first block is the first of all:
  // it is the one to report.
  bool after_time_slices(std::uint64_t changes, bool still, std::uint64_t position) {
    announce(changes);
    const std::uint64_t now = board_.epoch.load();
    unchanged_ = now == seen_;
    seen_ = now;
    typename Board::Place& mine = board_.places[number_];
    if (!still || !unchanged_) {
      mine.quiet.store(0);
      return false;
    }
    mine.position.store(position);
    mine.quiet.store(now + 1);
    for (typename Board::Place& p : board_.places) {
      const std::uint64_t quiet = p.quiet.load();
      if (quiet == Board::kGone) continue;
      if (quiet != now + 1 || p.position.load() < position) return false;
    }
    return board_.epoch.load() == now;
  }

  // Whether the member has changes to announce.
  bool has_news(std::uint64_t changes) const { return changes != announced_; }
  // Whether the last call of after_time_slices() found the same epoch as the call before it.
  bool unchanged() const { return unchanged_; }

  // Starts another epoch: no member is quiet in it until everything has repeated itself once more.
  void look_again() { seen_ = board_.epoch.fetch_add(1) + 1; }

  // The member has nothing left to run.
  void leave(std::uint64_t changes) {
    announce(changes);
    board_.places[number_].quiet.store(Board::kGone);
  }

 private:
  void announce(std::uint64_t changes) {
    if (changes == announced_) return;
    announced_ = changes;
    board_.epoch.fetch_add(1);
  }

  Board& board_;
  const std::size_t number_;
  std::uint64_t announced_ = 0, seen_ = 0;
  bool unchanged_ = false;
};

}  // namespace lockstep::engine
