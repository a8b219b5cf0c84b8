#include "harness/report/sentence.h"

#include <cctype>

namespace lockstep {

std::string sentence_of(std::string_view property) {
  const auto dot = property.find('.');
  const std::string_view name = property.substr(dot == property.npos ? 0 : dot + 1);
  const auto is_upper = [&](std::size_t i) {
    return i < name.size() && std::isupper(static_cast<unsigned char>(name[i]));
  };
  const auto is_lower = [&](std::size_t i) {
    return i < name.size() && std::islower(static_cast<unsigned char>(name[i]));
  };
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    // A run of capitals is an abbreviation, except for its last letter if that begins a word.
    std::size_t end = i;
    while (is_upper(end)) ++end;
    if (is_lower(end) && end > i) --end;
    const bool abbreviation = end > i + 1;
    const bool word = is_upper(i) && i > 0;
    if (end == i) end = i + 1;
    if (word && !out.ends_with(' ')) out += ' ';
    for (; i < end; ++i) {
      const bool gap = name[i] == '_' || name[i] == '/';
      out += gap            ? ' '
             : abbreviation ? name[i]
                            : static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    }
  }
  return out;
}

}  // namespace lockstep
