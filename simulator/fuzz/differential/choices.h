// The choices a program is made of: splitmix64, the same numbers wherever this is compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace lockstep::fuzz::differential {

constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return mixed(state_ += 0x9e3779b97f4a7c15); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }
  bool percent(unsigned n) { return bits() % 100 < n; }
  template <class Range>
  const auto& of(const Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace lockstep::fuzz::differential
