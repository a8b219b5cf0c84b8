#include "simulator/exec/mutate/statement.h"

#include <algorithm>
#include <cctype>

namespace lockstep::exec {
namespace {

// The significant characters of one line.
std::string tokens_of(std::string_view line) {
  std::string tokens;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quoted && c == '/' && line.substr(i).starts_with("//")) break;
    if (c == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    if (!std::isspace(static_cast<unsigned char>(c))) tokens += c;
  }
  return tokens;
}

}  // namespace

std::vector<LineRange> places_of(std::string_view statement,
                                 const std::vector<std::string>& lines) {
  const std::string wanted = tokens_of(statement);
  std::vector<LineRange> places;
  if (wanted.empty()) return places;
  for (std::size_t first = 0; first < lines.size(); ++first) {
    std::string text;
    for (std::size_t last = first; last < lines.size(); ++last) {
      const std::string line = tokens_of(lines[last]);
      if (line.empty() && text.empty()) break;
      text += line;
      if (text.size() >= wanted.size() || !wanted.starts_with(text)) {
        if (text == wanted) places.push_back({first + 1, last + 1});
        break;
      }
    }
  }
  return places;
}

bool stands_at(std::string_view statement, const std::vector<std::string>& lines,
               std::size_t line) {
  const std::vector<LineRange> places = places_of(statement, lines);
  return std::any_of(places.begin(), places.end(),
                     [&](const LineRange& place) { return place.contains(line); });
}

}  // namespace lockstep::exec
