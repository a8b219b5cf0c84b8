#include "simulator/check/global_rows.h"

#include <bit>

#include "simulator/check/cell_questions.h"

namespace lockstep::check {
namespace {

// Whether the answer for one lane may differ from that for its neighbour: other lanes of this warp
// have accessed the cell, or lanes of another warp have released differently.
bool differs_by_lane(const AccessRecords& records, CellHalf h, std::uint32_t lane,
                     const Side& side) {
  const AccessRecord& r = records.of(h);
  const bool own = r.is_of_warp(side);
  if (own && h.lane() != lane) return true;
  const auto apart = [&](const AccessRecord& by) {
    return (by.block != side.block || by.epoch == side.order->epoch()) &&
           side.order->knows_lanes_apart(side.warp, by.block, by.warp);
  };
  if (!own && apart(r)) return true;
  if (!h.names_two()) return false;
  const AccessRecord second = records.second(h).record;
  return (own && side.write && second.is_of_warp(side)) || apart(second);
}

template <std::uint32_t kWidth>
bool row_of(GlobalRaces& races, GlobalCell* __restrict cells, std::uint32_t lane,
            std::uint32_t count, GlobalRaces::Access& me) {
  const AccessRecords& records = races.records();
  const Side& side = me.side();
  if (may_have_messages(side)) return false;
  const std::uint32_t n = kWidth * count;
  me.touch(cells);
  me.touch(cells + n - 1);
  // The common case: the cells hold nothing that counts.
  if (!GlobalCell::any_since(cells, n, records.first_counted())) {
    if (me.number() == 0) return true;
    const CellHalf mine(me.number(), ByteSet::all(), lane);
    const GlobalCell cell = side.write ? GlobalCell(mine, {}) : GlobalCell({}, mine);
    const GlobalCell::LaneStep step(side.write, !side.write);
    for (std::uint32_t i = 0; i < n; ++i) cells[i] = cell.moved(step, i / kWidth);
    return true;
  }
  // All cells differ in the lane only, so the answer for the first holds for all.
  const GlobalCell first = cells[0];
  const bool has_wr = records.counts(first.write()), has_rd = records.counts(first.read());
  // Bytes have cells of their own here, now or in an earlier launch: each lane must be judged
  // alone.
  if (first.is_apart() || (has_wr && first.write().bytes() != ByteSet::all()) ||
      (has_rd && first.read().bytes() != ByteSet::all()))
    return false;
  if ((has_wr && differs_by_lane(records, first.write(), lane, side)) ||
      (has_rd && differs_by_lane(records, first.read(), lane, side)))
    return false;
  const GlobalCell::LaneStep step(has_wr, has_rd);
  std::uint64_t differences = 0;
  for (std::uint32_t i = 0; i < n; ++i)
    differences |= cells[i].difference(first.moved(step, i / kWidth));
  if (differences != 0) return false;
  if (CellQuestions(records, side, lane)
          .next(has_wr ? first.write() : CellHalf(), has_rd ? first.read() : CellHalf()) ==
      CellState::kStory)
    return false;
  GlobalCell changed = first;
  LaneAccess conflict;
  if (races.access(changed, 15, lane, me, conflict)) return false;
  if (changed == first) return true;
  const GlobalCell::LaneStep new_step(!changed.write().empty(), !changed.read().empty());
  for (std::uint32_t i = 0; i < n; ++i) cells[i] = changed.moved(new_step, i / kWidth);
  return true;
}

}  // namespace

bool record_row(GlobalRaces& races, GlobalCell* cells, std::uint32_t width, std::uint32_t lane,
                std::uint32_t count, GlobalRaces::Access& me) {
  switch (width) {
    case 1: return row_of<1>(races, cells, lane, count, me);
    case 2: return row_of<2>(races, cells, lane, count, me);
    default: return row_of<4>(races, cells, lane, count, me);
  }
}

bool record_element(GlobalRaces& races, GlobalCell* cells, std::uint32_t width, std::uint32_t lane,
                    GlobalRaces::Access& me) {
  if (me.side().strong) return false;
  me.touch(cells);
  me.touch(cells + width - 1);
  const GlobalCell first = cells[0];
  for (std::uint32_t i = 1; i < width; ++i)
    if (cells[i] != first) return false;
  const AccessRecords& records = races.records();
  const GlobalCell known = first.since(records.first_counted());
  const CellHalf wr = known.write(), rd = known.read();
  if (known.is_apart() || (!wr.empty() && wr.bytes() != ByteSet::all()) ||
      (!rd.empty() && rd.bytes() != ByteSet::all()) ||
      CellQuestions(records, me.side(), lane).next(wr, rd) == CellState::kStory)
    return false;
  GlobalCell changed = first;
  LaneAccess conflict;
  if (races.access(changed, 15, lane, me, conflict)) return false;
  if (changed == first) return true;
  for (std::uint32_t i = 0; i < width; ++i) cells[i] = changed;
  return true;
}

void GlobalRaces::record_stores(GlobalCell* cells, std::uint32_t width, std::uint32_t lanes,
                                const AccessRecord& by, Memo& memo) {
  const std::uint32_t number = records_.number_of(by, memo.records);
  if (number == 0) return;
  for (auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes)); lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < width; ++i, ++cells)
      if (lanes >> lane & 1) *cells = {CellHalf(number, ByteSet::all(), lane), CellHalf()};
  }
}

std::uint32_t length_of_row(const GlobalRaces& races, const GlobalCell* cells, std::uint32_t width,
                            std::uint32_t count) {
  const AccessRecords& records = races.records();
  const bool wr = records.counts(cells[0].write()), rd = records.counts(cells[0].read());
  const GlobalCell::LaneStep step(wr, rd);
  GlobalCell expected = cells[0];
  for (std::uint32_t element = 0; element < count; ++element, expected = expected.moved(step, 1)) {
    for (std::uint32_t i = 0; i < width; ++i, ++cells) {
      if (wr || rd ? *cells != expected
                   : records.counts(cells->write()) || records.counts(cells->read()))
        return element;
    }
  }
  return count;
}

namespace {

// Whether two threads of other blocks have read, and this block knows nothing of them. Then another
// read by it changes nothing: of unordered readers two are kept. No earlier launch may count.
bool has_unordered_readers(const AccessRecords& records, CellHalf rd, const Side& side) {
  return !rd.empty() && rd.names_two() && !side.order->knows_of_others() &&
         records.of(rd).block != side.block && records.second(rd).record.block != side.block;
}

}  // namespace

bool record_one_place(GlobalRaces& races, GlobalCell* cells, std::uint32_t width,
                      std::uint32_t lane, std::uint32_t last, GlobalRaces::Access& me) {
  const AccessRecords& records = races.records();
  const Side& side = me.side();
  if (may_have_messages(side)) return false;
  const auto is_between = [&](const LaneAccess& by) {
    return by.lane > lane && by.lane < last && by.record.is_of_warp(side);
  };
  const auto names_between = [&](CellHalf h) {
    if (h.empty()) return false;
    return is_between(records.first(h)) ||
           (h.names_two() && side.order->clock(side.warp) != 0 && is_between(records.second(h)));
  };
  me.touch(cells);
  GlobalCell after[4];
  for (std::uint32_t i = 0; i < width; ++i) {
    after[i] = cells[i].since(records.first_counted());
    const CellHalf wr = after[i].write(), rd = after[i].read();
    if (cells[i].is_apart() || (!wr.empty() && wr.bytes() != ByteSet::all()) ||
        (!rd.empty() && rd.bytes() != ByteSet::all()))
      return false;
    // Most places that several lanes read are only read, and stay so: no story is needed.
    const bool only_read = !side.write && !side.strong && wr.empty() &&
                           !records.counts_earlier_launches() &&
                           (rd.empty() || records.of(rd).reads_weakly());
    if (only_read && has_unordered_readers(records, rd, side)) continue;
    // The first and the last lane represent the lanes between them: an access that races with a
    // middle lane races with one of these two. This does not hold if a middle lane accessed the
    // cell before.
    if (names_between(wr) || names_between(rd)) return false;
    LaneAccess conflict;
    const auto races_or_makes_story = [&](std::uint32_t by) {
      return (!only_read &&
              CellQuestions(records, side, by).next(after[i].write(), after[i].read()) ==
                  CellState::kStory) ||
             races.access(after[i], 15, by, me, conflict);
    };
    if (races_or_makes_story(lane) || (last != lane && races_or_makes_story(last))) return false;
  }
  for (std::uint32_t i = 0; i < width; ++i) cells[i] = after[i];
  return true;
}

}  // namespace lockstep::check
