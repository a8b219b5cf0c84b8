// Vector clocks over lanes. A lane is a sequence of operations that are ordered one after another:
// a stream, or a branch of a graph. A clock holds, for each lane, the last operation that is
// ordered before something (Mattern, "Virtual Time and Global States of Distributed Systems",
// 1989).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::runtime {

using Lane = std::uint32_t;

class Clock {
 public:
  // The number of the last operation of `lane` that is covered; operations count from 1.
  std::uint32_t at(Lane lane) const { return lane < last_.size() ? last_[lane] : 0; }
  bool covers(Lane lane, std::uint32_t sequence) const { return at(lane) >= sequence; }
  bool covers(const Clock& other) const {
    for (std::size_t i = 0; i < other.last_.size(); ++i) {
      if (at(static_cast<Lane>(i)) < other.last_[i]) return false;
    }
    return true;
  }
  void raise(Lane lane, std::uint32_t sequence) {
    if (lane >= last_.size()) last_.resize(lane + std::size_t{1});
    last_[lane] = std::max(last_[lane], sequence);
  }
  // Reduces the coverage of the lane to at most `sequence`.
  void lower(Lane lane, std::uint32_t sequence) {
    if (lane < last_.size()) last_[lane] = std::min(last_[lane], sequence);
  }
  // Adds everything that `other` covers.
  void join(const Clock& other) {
    if (other.last_.size() > last_.size()) last_.resize(other.last_.size());
    for (std::size_t i = 0; i < other.last_.size(); ++i)
      last_[i] = std::max(last_[i], other.last_[i]);
  }
  // The last covered operation, by lane.
  std::span<const std::uint32_t> values() const { return last_; }

 private:
  std::vector<std::uint32_t> last_;
};

}  // namespace lockstep::runtime
