#include "simulator/check/access_records.h"

#include <algorithm>

namespace lockstep::check {

AccessRecord AccessRecord::of(const Side& side) {
  AccessRecord r;
  r.block = side.block;
  r.epoch = side.order->epoch();
  r.pc = side.pc;
  r.clock_and_size =
      static_cast<std::uint16_t>(side.order->clock(side.warp) | side.size << kSizeShift);
  r.warp = static_cast<std::uint8_t>(side.warp);
  r.strong = side.strong;
  r.write = side.write;
  r.scope = side.scope;
  r.updates = side.updates;
  r.observes = side.observes;
  return r;
}

void AccessRecords::start(memory::DeviceMemory& memory, std::uint32_t cluster, std::uint32_t most) {
  memory_ = &memory;
  cluster_ = cluster;
  // No launch may use the first number of another launch: it marks split cells and stories.
  first_ = first_counted_ = memory.race_records().fetch_add(1);
  limit_ = most == 0 ? kMost : std::min(first_ + 1 + most, kMost);
  exhausted_ = false;
}

AccessRecords::Present AccessRecords::suspend() const {
  return {cluster_, first_, first_counted_, limit_, exhausted(), first_unrecorded_};
}

void AccessRecords::resume(const Present& present, bool forgotten) {
  cluster_ = present.cluster;
  first_ = present.first;
  first_counted_ = present.first_counted;
  limit_ = present.limit;
  if (forgotten) {
    first_ = memory_->race_records().fetch_add(1);
    first_counted_ = origin_;
    limit_ = kMost;
  }
  exhausted_ = present.exhausted;
  first_unrecorded_ = present.first_unrecorded;
}

std::uint32_t AccessRecords::number_of(const AccessRecord& r, Memo& memo) {
  Memo::Entry& e = memo.entries_[r.pc % Memo::kSlots];
  if (e.number != 0 && e.record == r) return e.number;
  const std::uint32_t number = add(r, memo);
  if (number != 0) e = {number, r};
  return number;
}

__attribute__((noinline)) bool AccessRecords::set_aside(const AccessRecord& r, Memo& memo) {
  if (exhausted()) return false;
  memo.next_ = memory_->race_records().fetch_add(kLot);
  memo.end_ = memo.next_ + kLot;
  if (memo.end_ <= limit_) return true;
  memory_->race_records().fetch_sub(kLot);
  memo.next_ = memo.end_ = 0;
  note_exhausted(r);
  return false;
}

void AccessRecords::note_exhausted(const AccessRecord& r) {
  std::lock_guard lock(exhausted_mutex_);
  if (!exhausted_.exchange(true)) first_unrecorded_ = r;
}

CellHalf AccessRecords::with_second(CellHalf h, std::uint32_t number, std::uint32_t lane,
                                    Memo& memo) {
  if (number == 0) return h.naming_one();
  const std::uint32_t link = number << kLinkShift | ((lane - h.lane()) & 31);
  std::uint32_t none = link_of(h.number()).load(std::memory_order_relaxed);
  if (none == link) return h.naming_two();
  if (none == 0 &&
      (link_of(h.number()).compare_exchange_strong(none, link, std::memory_order_relaxed) ||
       none == link))
    return h.naming_two();
  // This record already links to another second record. So a copy of it gets the new link.
  Memo::Pair& pair = memo.pairs_[(h.number() ^ link) % Memo::kSlots];
  if (pair.number != h.number() || pair.second != link) {
    const std::uint32_t both = add(of(h), memo, link);
    if (both == 0) return h.naming_one();
    pair = {h.number(), link, both};
  }
  return h.with_number(pair.both).naming_two();
}

bool AccessRecords::both_strong(const AccessRecord& r, const Side& side) const {
  if (!r.strong || !side.strong) return false;
  const Scope needed = r.block == side.block ? Scope::kBlock
                       : r.block / cluster_ == side.block / cluster_ && cluster_ > 1
                           ? Scope::kCluster
                           : Scope::kGrid;
  return r.scope >= needed && side.scope >= needed;
}

}  // namespace lockstep::check
