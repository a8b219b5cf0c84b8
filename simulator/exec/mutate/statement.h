// Finds a statement in a source file, whatever the layout of both.
//
// Lists of mutants and tables of coverage identify source lines by their text. The layout may
// change, the tokens do not. So white space, line ends and `//` comments are ignored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::exec {

struct LineRange {
  std::size_t first, last;  // line numbers, from 1

  bool contains(std::size_t line) const { return first <= line && line <= last; }
};

// Each place where `statement` covers whole lines of `lines`, apart from comments. A text that
// covers only a part of a line has no place, and neither has an empty statement.
std::vector<LineRange> places_of(std::string_view statement, const std::vector<std::string>& lines);

// Whether line number `line` belongs to a place of `statement`.
bool stands_at(std::string_view statement, const std::vector<std::string>& lines, std::size_t line);

}  // namespace lockstep::exec
