// Selectors of a video instruction's operands: the bytes or half-words that it reads or writes,
// such as ".b2", ".h10", ".b7654" (PTX ISA 9.0, 9.7.18 and 9.7.19).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::isa {

struct Selector {
  std::uint8_t count = 0;                // digits; 0: no selector
  bool halves = false;                   // .h, else .b
  std::uint8_t digit[4] = {0, 0, 0, 0};  // from the right: digit[0] is lane 0's

  bool operator==(const Selector&) const = default;
};

// The selectors that an operand of a form may have.
enum class Selects : std::uint8_t {
  kNothing,
  kPart,   // a byte or a half: .b0 to .b3, .h0, .h1
  kMask,   // SIMD destinations: lanes, the highest first
  kLanes,  // SIMD sources: one digit a lane, over the lanes of both sources
};

// Parses "b0" or "h32", without the dot. False if `text` is no selector.
inline bool selector_from(std::string_view text, Selector& s) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) return false;
  s = {};
  s.halves = text[0] == 'h';
  for (std::size_t i = text.size() - 1; i > 0; --i) {
    if (text[i] < '0' || text[i] > '7') return false;
    s.digit[s.count++] = static_cast<std::uint8_t>(text[i] - '0');
  }
  return true;
}

inline std::string text_of(const Selector& s) {
  std::string text = s.halves ? ".h" : ".b";
  for (int i = s.count; i > 0; --i) text += static_cast<char>('0' + s.digit[i - 1]);
  return text;
}

// Whether the selector is allowed. `lanes`: 2 or 4 for a SIMD instruction, 1 for a scalar one.
inline bool fits(const Selector& s, Selects what, int lanes) {
  const auto each_below = [&](int end) {
    for (int i = 0; i < s.count; ++i) {
      if (s.digit[i] >= end) return false;
    }
    return true;
  };
  switch (what) {
    case Selects::kNothing: return s.count == 0;
    case Selects::kPart: return s.count <= 1 && each_below(s.halves ? 2 : 4);
    case Selects::kMask:
      for (int i = 0; i + 1 < s.count; ++i) {
        if (s.digit[i] >= s.digit[i + 1]) return false;
      }
      return s.count == 0 || (s.halves == (lanes == 2) && s.count <= lanes && each_below(lanes));
    case Selects::kLanes:
      return s.count == 0 ||
             (s.halves == (lanes == 2) && s.count == lanes && each_below(2 * lanes));
  }
  return false;
}

}  // namespace lockstep::isa
