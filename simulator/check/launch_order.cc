#include "simulator/check/launch_order.h"

namespace lockstep::check {

void LaunchOrder::settle(const Place& place) {
  if (place.sequence == 0) {
    launches_.clear();
    steps_.clear();
    forgotten_.clear();
    return;
  }
  while (!launches_.empty() &&
         at(place.settled, launches_.front().lane) >= launches_.front().sequence)
    launches_.pop_front();
  for (std::uint32_t lane = 0; lane < steps_.size(); ++lane) {
    std::deque<Step>& steps = steps_[lane];
    while (!steps.empty() && at(place.settled, lane) >= steps.front().sequence) steps.pop_front();
  }
}

void LaunchOrder::forget() {
  for (const Launch& launch : launches_) {
    if (launch.lane >= forgotten_.size()) forgotten_.resize(launch.lane + std::size_t{1});
    forgotten_[launch.lane] = std::max(forgotten_[launch.lane], launch.sequence);
  }
  launches_.clear();
  steps_.clear();
  end_of_blocks_ = 0;
}

void LaunchOrder::begin(const Place& place, std::uint64_t blocks, std::uint32_t cluster,
                        std::uint32_t first_record) {
  present_.missed = false;
  present_.alone = place.sequence == 0;
  present_.before.assign(place.before.begin(), place.before.end());
  present_.first_counted =
      place.several_lanes && remembers() ? launches_.front().first_record : first_record;
  for (std::uint32_t lane = 0; lane < forgotten_.size() && !present_.alone; ++lane)
    present_.missed |= forgotten_[lane] > at(present_.before, lane);
  // A cluster is known by its blocks' numbers divided by their count.
  const std::uint64_t first = (end_of_blocks_ + cluster - 1) / cluster * cluster;
  present_.first_block = static_cast<std::uint32_t>(first);
  present_.blocks = blocks == 0 ? ~0u : static_cast<std::uint32_t>(blocks);
  end_of_blocks_ = first + blocks;
  if (present_.alone) return;
  launches_.push_back({present_.first_block, first_record, place.lane, place.sequence});
  if (place.lane >= steps_.size()) steps_.resize(place.lane + std::size_t{1});
  steps_[place.lane].push_back({place.sequence, first_record});
}

const LaunchOrder::Launch* LaunchOrder::find(std::uint32_t block) const {
  const auto behind = std::upper_bound(
      launches_.begin(), launches_.end(), block,
      [](std::uint32_t b, const Launch& launch) { return b < launch.first_block; });
  return behind == launches_.begin() ? nullptr : &*std::prev(behind);
}

bool LaunchOrder::is_among(std::span<const std::uint32_t> before, std::uint32_t block) const {
  const Launch* const launch = find(block);
  // What is no longer remembered counts as ordered.
  return launch == nullptr || at(before, launch->lane) >= launch->sequence;
}

bool LaunchOrder::is_before(std::uint32_t block) const {
  return present_.alone || is_among(present_.before, block);
}

std::uint32_t LaunchOrder::first_unordered_in(std::span<const std::uint32_t> before) const {
  std::uint32_t first = kNone;
  for (std::uint32_t lane = 0; lane < steps_.size(); ++lane) {
    const std::deque<Step>& steps = steps_[lane];
    const auto it = std::upper_bound(
        steps.begin(), steps.end(), at(before, lane),
        [](std::uint32_t sequence, const Step& step) { return sequence < step.sequence; });
    if (it != steps.end()) first = std::min(first, it->first_record);
  }
  return first;
}

}  // namespace lockstep::check
