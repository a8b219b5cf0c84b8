#include "simulator/check/launch_order.h"

#include <utility>

namespace lockstep::check {

void LaunchOrder::suspend() {
  aside_.push_back(std::move(present_));
  present_ = {};
}

std::vector<LaunchOrder::Present>::iterator LaunchOrder::aside(std::uint32_t first_block) {
  return std::find_if(aside_.begin(), aside_.end(),
                      [=](const Present& p) { return p.first_block == first_block; });
}

void LaunchOrder::resume(std::uint32_t first_block) {
  const auto it = aside(first_block);
  present_ = std::move(*it);
  aside_.erase(it);
  present_.missed |= is_missing();
}

void LaunchOrder::end(std::uint32_t first_block) { aside_.erase(aside(first_block)); }

// Whether a forgotten launch is not ordered before the present one.
bool LaunchOrder::is_missing() const {
  bool missing = false;
  for (std::uint32_t lane = 0; lane < forgotten_.size() && !present_.alone; ++lane)
    missing |= forgotten_[lane] > at(present_.before, lane);
  return missing;
}

void LaunchOrder::settle(const Place& place) {
  if (place.sequence == 0 && aside_.empty()) {
    launches_.clear();
    steps_.clear();
    forgotten_.clear();
    return;
  }
  // The last operation of a lane that is settled and ordered before the suspended launches.
  const auto settled = [&](std::uint32_t lane) {
    std::uint32_t last = at(place.settled, lane);
    for (const Present& p : aside_) {
      if (!p.alone) last = std::min(last, at(p.before, lane));
    }
    return last;
  };
  while (!launches_.empty() && settled(launches_.front().lane) >= launches_.front().sequence)
    launches_.pop_front();
  for (std::uint32_t lane = 0; lane < steps_.size(); ++lane) {
    std::deque<Step>& steps = steps_[lane];
    const std::uint32_t last = steps.empty() ? 0 : settled(lane);
    while (!steps.empty() && last >= steps.front().sequence) steps.pop_front();
  }
}

void LaunchOrder::remember(Launch launch) {
  if (launch.lane >= steps_.size()) steps_.resize(launch.lane + std::size_t{1});
  steps_[launch.lane].push_back({launch.sequence, launch.first_record});
  launches_.push_back(std::move(launch));
}

void LaunchOrder::forget(std::uint32_t first_record) {
  std::deque<Launch> all = std::exchange(launches_, {});
  steps_.clear();
  for (Launch& launch : all) {
    if (aside(launch.first_block) != aside_.end()) {
      launch.first_record = first_record;
      remember(std::move(launch));
      continue;
    }
    if (launch.lane >= forgotten_.size()) forgotten_.resize(launch.lane + std::size_t{1});
    forgotten_[launch.lane] = std::max(forgotten_[launch.lane], launch.sequence);
  }
  for (Present& p : aside_) p.first_counted = first_record;
  if (aside_.empty()) end_of_blocks_ = 0;
}

void LaunchOrder::begin(const Place& place, std::uint64_t blocks, std::uint32_t cluster,
                        std::uint32_t first_record) {
  present_.alone = place.sequence == 0;
  present_.before.assign(place.before.begin(), place.before.end());
  present_.hearing = place.hearing;
  present_.family = place.family;
  present_.descent = place.descent;
  present_.first_counted =
      place.several_lanes && remembers() ? launches_.front().first_record : first_record;
  present_.missed = is_missing();
  // Blocks of one cluster have the same number divided by the cluster size, so a launch starts at a
  // multiple of it.
  const std::uint64_t first = (end_of_blocks_ + cluster - 1) / cluster * cluster;
  present_.first_block = static_cast<std::uint32_t>(first);
  present_.blocks = blocks == 0 ? ~0u : static_cast<std::uint32_t>(blocks);
  end_of_blocks_ = first + blocks;
  if (present_.alone) return;
  Launch launch{
      present_.first_block, present_.blocks, first_record, place.lane, place.sequence, {}, {},
      place.family,         place.descent};
  if (place.several_lanes) {
    launch.before = present_.before;
    launch.hearing = present_.hearing;
  }
  remember(std::move(launch));
}

const LaunchOrder::Launch* LaunchOrder::find(std::uint32_t block) const {
  const auto behind = std::upper_bound(
      launches_.begin(), launches_.end(), block,
      [](std::uint32_t b, const Launch& launch) { return b < launch.first_block; });
  if (behind == launches_.begin()) return nullptr;
  const Launch& launch = *std::prev(behind);
  return block - launch.first_block < launch.blocks ? &launch : nullptr;
}

bool LaunchOrder::are_ordered(std::uint32_t earlier, std::uint32_t block) const {
  const Launch *const a = find(earlier), *const b = find(block);
  return a != nullptr && b != nullptr && a != b && b->comes_after(*a);
}

bool LaunchOrder::comes_after(std::uint32_t block, std::uint32_t lane,
                              std::uint32_t sequence) const {
  const Launch* const launch = find(block);
  return launch != nullptr && launch->comes_after(lane, sequence);
}

bool LaunchOrder::is_among(std::span<const std::uint32_t> before, std::uint32_t block) const {
  const Launch* const launch = find(block);
  // Launches that are no longer remembered count as ordered.
  return launch == nullptr || at(before, launch->lane) >= launch->sequence;
}

bool LaunchOrder::is_of_family(std::uint32_t block) const {
  const Launch* const launch = find(block);
  return launch != nullptr && present_.family != 0 && launch->family == present_.family;
}

bool LaunchOrder::is_before(std::uint32_t block) const {
  if (present_.alone) return true;
  const Launch* const launch = find(block);
  if (is_of_family(block)) return Descent::is_before(launch->descent.get(), present_.descent.get());
  if (is_among(present_.before, block)) return true;
  if (!present_.hearing) return false;
  return present_.hearing->covers(launch->lane, launch->sequence);
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
