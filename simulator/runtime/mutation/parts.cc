#include "simulator/runtime/mutation/parts.h"

#include <stdexcept>

namespace lockstep::runtime {

namespace {
constexpr std::string_view kDigits = "0123456789abcdef";
}

void Parts::add(std::uint64_t part) {
  if (part / 4 >= fours_.size()) fours_.resize(part / 4 + 1);
  fours_[part / 4] |= static_cast<std::uint8_t>(1u << part % 4);
}

bool Parts::contains(std::uint64_t part) const {
  return part / 4 < fours_.size() && (fours_[part / 4] >> part % 4 & 1) != 0;
}

std::string Parts::text() const {
  std::string text;
  text.reserve(fours_.size());
  for (const std::uint8_t four : fours_) text += kDigits[four];
  return text;
}

Parts Parts::of(std::string_view text) {
  Parts parts;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos)
      throw std::invalid_argument("parts of a program: '" + std::string(text) + "'");
    parts.fours_.push_back(static_cast<std::uint8_t>(digit));
  }
  return parts;
}

}  // namespace lockstep::runtime
