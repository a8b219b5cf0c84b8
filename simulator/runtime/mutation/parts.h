// The parts of a program, which it begins by lockstepBeginPart(), that come to something.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::runtime {

// Numbers of parts: 0 is what comes before the first.
class Parts {
 public:
  void add(std::uint64_t part);
  bool contains(std::uint64_t part) const;

  // Hexadecimal digits, of four parts each from 0 on, in a part's lowest bit the first of them.
  std::string text() const;
  // Throws std::invalid_argument for what is no such text.
  static Parts of(std::string_view text);

 private:
  std::vector<std::uint8_t> fours_;
};

}  // namespace lockstep::runtime
