// Sets of parts of a program. The program starts a part by calling lockstepBeginPart().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::runtime {

// A set of part numbers. Part 0 is everything before the first call.
class Parts {
 public:
  void add(std::uint64_t part);
  bool contains(std::uint64_t part) const;

  // Hexadecimal digits. Each stands for four parts, from part 0 on; the lowest bit is the first of
  // the four.
  std::string text() const;
  // Throws std::invalid_argument if the text is malformed.
  static Parts of(std::string_view text);

 private:
  std::vector<std::uint8_t> fours_;
};

}  // namespace lockstep::runtime
