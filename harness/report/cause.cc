#include "harness/report/cause.h"

#include <cctype>

namespace lockstep {
namespace {

// "tests/x.cu:36" from a line "    at tests/x.cu:36 (st.shared.f32)"; empty for any other line.
std::string_view place_in(std::string_view line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (!line.starts_with("at ")) return {};
  line = line.substr(3, line.find(' ', 3) - 3);
  const auto colon = line.rfind(':');
  return colon != line.npos && colon + 1 < line.size() &&
                 std::isdigit(static_cast<unsigned char>(line[colon + 1])) != 0
             ? line
             : std::string_view();
}

}  // namespace

std::string cause_of(std::string_view reason, std::string_view message) {
  if (message.empty()) return {};
  std::string places;
  for (std::string_view rest = message; !rest.empty();) {
    const auto end = rest.find('\n');
    if (const std::string_view place = place_in(rest.substr(0, end)); !place.empty())
      places += " " + std::string(place);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  // Without source lines the whole message must agree: wrong values may have any cause.
  return std::string(reason) + (places.empty() ? " " + std::string(message) : places);
}

}  // namespace lockstep
