#include "simulator/check/scattered_lanes.h"

#include <bit>

#include "simulator/check/cell_questions.h"
#include "simulator/check/region_lock.h"

namespace lockstep::check {
namespace {

// One access of a warp, lane by lane, granule by granule. Threads of other blocks are not ordered
// before it: the block knows of none, and no earlier launch counts.
class LanesOf {
 public:
  LanesOf(GlobalRaces& races, std::uint32_t first_of_block, GlobalRaces::Access& me)
      : records_(races.records()),
        first_counted_(races.records().first_counted()),
        first_of_block_(first_of_block),
        me_(me),
        side_(me.side()) {}

  // False: not recorded.
  __attribute__((always_inline)) bool read(GlobalCell& cell, std::uint32_t lane) {
    if (!is_untouched(cell)) return read_again(cell, lane);
    if (!has_number()) return false;
    cell = {CellHalf(), mine(lane)};
    return true;
  }
  __attribute__((always_inline)) bool update(GlobalCell& cell, std::uint32_t lane) {
    if (!is_untouched(cell)) return update_again(cell, lane);
    if (!has_number()) return false;
    cell = {mine(lane), CellHalf()};
    return true;
  }

 private:
  bool is_untouched(GlobalCell cell) const {
    return !cell.write().is_since(first_counted_) &&
           (!cell.read().is_since(first_counted_) || cell.is_apart());
  }
  __attribute__((noinline)) bool read_again(GlobalCell& cell, std::uint32_t lane) {
    const CellHalf wr = cell.write(), rd = cell.read();
    if (wr.is_since(first_counted_) || rd.bytes() != ByteSet::all()) return false;
    const AccessRecord& r = records_.of(rd);
    if (!r.reads_weakly() || r.block == side_.block) return false;
    // Of unordered readers two are kept.
    if (rd.names_two()) return records_.number_of_second(rd) < first_of_block_;
    if (!has_number()) return false;
    cell = {CellHalf(), me_.as_second(rd, lane)};
    return true;
  }
  __attribute__((noinline)) bool update_again(GlobalCell& cell, std::uint32_t lane) {
    const CellHalf wr = cell.write(), rd = cell.read();
    if (!wr.is_since(first_counted_) || rd.is_since(first_counted_) ||
        wr.bytes() != ByteSet::all() || records_.of(wr).block == side_.block ||
        !CellQuestions(records_, side_, lane).is_of_kind(wr))
      return false;
    // Where results are used, the last atomic stands for all before it; otherwise two are kept.
    if (!side_.observes && wr.names_two()) return records_.number_of_second(wr) < first_of_block_;
    if (!has_number()) return false;
    cell = {side_.observes ? mine(lane) : me_.as_second(wr, lane), CellHalf()};
    return true;
  }
  // Whether there was a number left for the record of this access.
  bool has_number() {
    if (number_ == 0) number_ = me_.number();
    return number_ != 0;
  }
  CellHalf mine(std::uint32_t lane) const { return {number_, ByteSet::all(), lane}; }

  const AccessRecords& records_;
  const std::uint32_t first_counted_, first_of_block_;
  GlobalRaces::Access& me_;
  const Side& side_;
  std::uint32_t number_ = 0;
};

// Whether the lanes' cells are likely to lie in cache lines that nobody has used just now: the
// first and the last are not near to each other.
bool are_far_apart(const std::uint64_t* at, std::uint32_t lanes) {
  if (lanes == 0) return false;
  const std::uint64_t first = at[std::countr_zero(lanes)], last = at[31 - std::countl_zero(lanes)];
  return (first < last ? last - first : first - last) > 2048;
}

template <bool kUpdates, bool kWide, bool kParallel>
std::uint32_t record(GlobalRaces& races, memory::DeviceMemory& memory, const ScatteredLanes& where,
                     GlobalRaces::Access& me) {
  LanesOf access(races, where.first_of_block, me);
  const std::uint64_t begin = memory.window_begin(), size = memory.window_end() - begin;
  std::uint64_t at[32];
  for (int i = 0; i < 32; ++i) at[i] = where.address[i] + where.offset - begin;
  GlobalCell* cells[32];
  std::uint32_t inside = 0;
  for (std::uint32_t left = where.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    inside |= std::uint32_t{at[lane] < size} << lane;
    cells[lane] = cell_of(memory, begin + at[lane]);
  }
  if (are_far_apart(at, inside)) {
    // The cells, and the records that they name, lie in other cache lines each: all are asked for
    // before the first is waited for.
    for (std::uint32_t left = inside; left != 0; left &= left - 1)
      __builtin_prefetch(cells[std::countr_zero(left)], 1);
    for (std::uint32_t left = inside; left != 0; left &= left - 1) {
      const GlobalCell cell = glimpse(*cells[std::countr_zero(left)]);
      if (cell.is_apart()) continue;
      races.records().fetch_ahead(kUpdates ? GlobalCell(cell.write(), {})
                                           : GlobalCell({}, cell.read()));
    }
  }
  std::uint32_t done = 0;
  for (std::uint32_t left = inside; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const RegionLock lock(kParallel, begin + at[lane], begin + at[lane] + where.size - 1);
    GlobalCell* const cell = cells[lane];
    me.touch(cell);
    const auto one = [&](GlobalCell& of) {
      return kUpdates ? access.update(of, lane) : access.read(of, lane);
    };
    if (one(cell[0]) && (!kWide || one(cell[1]))) done |= 1u << lane;
  }
  return done;
}

template <bool kUpdates>
std::uint32_t record_by_size(GlobalRaces& races, memory::DeviceMemory& memory,
                             const ScatteredLanes& where, GlobalRaces::Access& me) {
  if (where.size == 8) {
    return races.parallel() ? record<kUpdates, true, true>(races, memory, where, me)
                            : record<kUpdates, true, false>(races, memory, where, me);
  }
  return races.parallel() ? record<kUpdates, false, true>(races, memory, where, me)
                          : record<kUpdates, false, false>(races, memory, where, me);
}

}  // namespace

std::uint32_t record_scattered(GlobalRaces& races, memory::DeviceMemory& memory,
                               const ScatteredLanes& where, GlobalRaces::Access& me) {
  const Side& side = me.side();
  const bool reads = !side.write && !side.strong, updates = side.updates && side.strong;
  if (!(reads || updates) || (where.size != 4 && where.size != 8) ||
      side.order->knows_of_others() || races.records().counts_earlier_launches() ||
      may_have_messages(side))
    return 0;
  return updates ? record_by_size<true>(races, memory, where, me)
                 : record_by_size<false>(races, memory, where, me);
}

}  // namespace lockstep::check
