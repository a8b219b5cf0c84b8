// Where a statement stands in a source file, however file and statement are laid out.
//
// Lists of mutants and tables of coverage name source lines by their text. Layout changes; the
// tokens do not. White space, line ends and `//` comments therefore do not count.
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

// Each place at which `statement` begins and ends with a line of `lines`, comments apart. A text
// that covers a part of a line only has no place. An empty statement has none either.
std::vector<LineRange> places_of(std::string_view statement, const std::vector<std::string>& lines);

// Whether line number `line` is one of those on which `statement` stands.
bool stands_at(std::string_view statement, const std::vector<std::string>& lines, std::size_t line);

}  // namespace lockstep::exec
