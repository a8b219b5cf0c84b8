// How host threads agree that none of them will ever change memory again: the protocol under
// livelock.h, and the reason why it is right.
//
// A member is a host thread that runs blocks. It changes memory, it looks at memory, and after each
// round over its blocks it calls after_time_slices(). It says `still` when everything that it runs
// only repeats itself: each warp has come back to a state in which it was before, and in between
// the member has changed nothing and the epoch has been the same. The epoch counts how often some
// member has announced changes.
//
// The claim: when after_time_slices() answers true, nobody will change anything any more (as long
// as the host does not).
//
//   A member is quiet in epoch E when it has stored E + 1 in its place. It does so only at the
//   second of two calls in a row (the first may be look_again). The time between the two is its
//   window. In it the epoch was E throughout, and the member made no change of its own. A member
//   that answers true has found all members quiet in E, or gone, and then the epoch still E.
//   Epochs only grow: so the epoch was E in every window, and from each window's end until the
//   answer.
//
//   Changes made before the end of their maker's window, or by one that has gone, were announced:
//   by after_time_slices() at the window's end at the latest, or by leave(), which announces
//   changes BEFORE it says that the member has gone. An announcement adds one to the epoch, which
//   has been E since the first window began: so they were announced before all windows, and a
//   member that read the epoch in its window has seen them (the operations on the epoch order
//   them).
//
//   Changes made after the end of their maker's window: take the first of them. Its maker ran in
//   circles during its window, and goes on doing so until it sees a change that it has not seen in
//   the window. Such a change would have been made after some window too, and earlier: there is
//   none.
//
// Somebody whose blocks have not begun is a member from the start, with the 0 of its place: it is
// quiet in no epoch. New blocks begin only where others have ended, which is a change, or where a
// member is not still.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::engine {

// Atomic: std::atomic, or what a test puts in its place to try all orders in which the members'
// operations can come.
template <template <class> class Atomic>
struct QuiescenceBoard {
  struct Place {
    Atomic<std::uint64_t> quiet{
        0};  // the epoch in which the member is quiet, plus one; 0: in none; kGone
    Atomic<std::uint64_t> position{0};  // of its first block in the schedule
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

  // `changes`: a count of the member's own, so far. `position`: of the first of its blocks. True:
  // all are quiet, and this member, whose first block comes before all others', is the one to say
  // so.
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
  // Whether the last call found the epoch as the call before it had.
  bool unchanged() const { return unchanged_; }

  // Begins another epoch: nobody is quiet in it before everything has run in circles once more.
  void look_again() { seen_ = board_.epoch.fetch_add(1) + 1; }

  // The member has no more to run.
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
