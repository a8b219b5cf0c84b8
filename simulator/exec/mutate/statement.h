// Finds a statement in a source file, whatever the layout of file and statement.
//
// Lists of mutants and tables of coverage identify source lines by their text. A change of layout
// does not change the tokens, so white space, line ends and `//` comments are ignored.
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

// Each place at which `statement` starts and ends at line boundaries, comments aside. A text that
// covers only a part of a line has no place, nor has an empty statement.
std::vector<LineRange> places_of(std::string_view statement, const std::vector<std::string>& lines);

// Whether line number `line` belongs to an occurrence of `statement`.
bool stands_at(std::string_view statement, const std::vector<std::string>& lines, std::size_t line);

}  // namespace lockstep::exec
