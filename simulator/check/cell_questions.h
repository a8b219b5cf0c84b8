// Questions about the halves of a cell (global_cell.h) before an access is recorded in it: the
// state of the cell, whether the access races, and the next state.
#pragma once

#include <cstdint>

#include "simulator/check/access_records.h"
#include "simulator/check/global_cell.h"

namespace lockstep::check {

// Whether an access of some lane of `side` may leave or acquire a message.
inline bool may_have_messages(const Side& side) {
  return side.strong &&
         (side.acquires || side.releases || (side.write && side.order->has_fenced_in(side.warp)));
}

// Answers the questions for an access by one lane. The halves passed must count
// (AccessRecords::counts) or be empty.
class CellQuestions {
 public:
  CellQuestions(const AccessRecords& records, const Side& side, std::uint32_t lane)
      : records_(records), side_(side), lane_(lane) {}

  CellAccess access() const {
    if (!side_.strong) return side_.write ? CellAccess::kWrite : CellAccess::kRead;
    if (side_.acquires || side_.releases ||
        (side_.write && side_.order->has_fenced(side_.warp * 32 + lane_)))
      return CellAccess::kMessage;
    return side_.write ? CellAccess::kStrongWrite : CellAccess::kStrongRead;
  }

  // The state of a cell that is neither split nor a story.
  CellState state(CellHalf wr, CellHalf rd) const {
    using enum CellState;
    // By the write half (empty, weak, strong) and the read half (empty, weak reads, strong reads,
    // strong writes). Strong writes are in the read half after a weak write alone.
    constexpr CellState kStates[3][4] = {{kUntouched, kRead, kPolled, kStory},
                                         {kWritten, kWrittenRead, kStory, kWrittenUpdated},
                                         {kUpdated, kUpdatedRead, kStory, kStory}};
    const int write = wr.empty() ? 0 : 1 + records_.of(wr).strong;
    if (rd.empty()) return kStates[write][0];
    const AccessRecord& r = records_.of(rd);
    return kStates[write][1 + r.strong + r.write];
  }

  // The cell's state after the access; kStory if its halves cannot represent it.
  CellState next(CellHalf wr, CellHalf rd) const {
    const CellAccess how = access();
    if (how == CellAccess::kWrite) return CellState::kWritten;  // as of every state
    const Transition t = transition(state(wr, rd), how);
    if (is_third_launch(rd)) return CellState::kStory;
    return holds(t.question, wr, rd) ? t.next : CellState::kStory;
  }

  // Whether the access races with one that `h` names. `with`: that access.
  bool races_with(CellHalf h, LaneAccess& with) const {
    const AccessRecord& r = records_.of(h);
    if ((!r.write && !side_.write) || records_.both_strong(r, side_)) return false;
    // A strong read that observed a strong write may have gone unrecorded.
    if (r.write && r.strong && (h.may_be_observed() || records_.exhausted())) return false;
    return is_unordered(h, with);
  }

  // Whether the second reader that `h` names is the present reader at an earlier clock. An order
  // after that earlier read does not order after this one.
  bool reads_again(CellHalf h) const {
    if (side_.strong || side_.order->clock(side_.warp) == 0)
      return false;  // then it has the same clock still
    const LaneAccess s = records_.second(h);
    return s.is_of_thread(lane_, side_) && s.record.epoch == side_.order->epoch() &&
           (s.record.strong || s.record.clock() != side_.order->clock(side_.warp));
  }

  // Whether both threads that `h` names belong to the same earlier launch.
  bool both_of_an_earlier_launch(CellHalf h) const {
    if (!records_.counts_earlier_launches()) return false;
    const LaunchOrder& launches = side_.order->grid().launches();
    const std::uint32_t first = records_.of(h).block, second = records_.second(h).record.block;
    return !launches.is_of_present(first) && !launches.is_of_present(second) &&
           launches.of_one_launch(first, second);
  }

  // Whether the access is an atomic, as are the strong writes that `h` names, all of one kind
  // (Question::kSameKind).
  bool is_of_kind(CellHalf h) const {
    const AccessRecord& r = records_.of(h);
    return side_.updates && r.updates && r.scope == side_.scope && r.observes == side_.observes &&
           r.size() == side_.size && records_.both_strong(r, side_);
  }

  Relation relate(const LaneAccess& a) const { return records_.relate(a, lane_, side_); }
  Relation relate_first(CellHalf h) const {
    return records_.relate(records_.of(h), h.lane(), lane_, side_);
  }
  Relation relate_second(CellHalf h) const { return relate(records_.second(h)); }

 private:
  // Whether `h` names threads of two launches and this is a third one. A half has room for two
  // threads only.
  bool is_third_launch(CellHalf h) const {
    if (!records_.counts_earlier_launches() || h.empty() || !h.names_two()) return false;
    const LaunchOrder& launches = side_.order->grid().launches();
    const std::uint32_t first = records_.of(h).block, second = records_.second(h).record.block;
    return !launches.is_of_present(first) && !launches.is_of_present(second) &&
           !launches.of_one_launch(first, second);
  }
  bool holds(Question q, CellHalf wr, CellHalf rd) const {
    switch (q) {
      case Question::kNone: return true;
      case Question::kSameThread: {
        const AccessRecord& r = records_.of(rd);
        return !rd.names_two() && r.scope == side_.scope && relate_first(rd) == Relation::kSelf;
      }
      case Question::kSameKind: return is_of_kind(wr);
      case Question::kSameKindApart:
        return is_of_kind(rd) &&
               !(records_.of_one_thread(wr, rd) && relate_first(rd) != Relation::kSelf);
      case Question::kStandsForAll: return false;  // of a story alone
    }
    return false;
  }

  // Whether nothing orders this access after the first thread that `h` names or, if that one is
  // ordered, after the second. `with`: the unordered access.
  bool is_unordered(CellHalf h, LaneAccess& with) const {
    const LaneAccess first = records_.first(h);
    if (relate(first) == Relation::kUnordered) {
      with = first;
      return true;
    }
    if (!h.names_two()) return false;
    const LaneAccess second = records_.second(h);
    if (records_.both_strong(second.record, side_) || relate(second) != Relation::kUnordered)
      return false;
    with = second;
    return true;
  }

  const AccessRecords& records_;
  const Side& side_;
  const std::uint32_t lane_;
};

}  // namespace lockstep::check
