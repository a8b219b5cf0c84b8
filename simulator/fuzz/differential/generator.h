// Generates random programs without races or undefined behaviour. Together they contain every row
// of the table of instruction forms that can be in a program.
#pragma once

#include <cstdint>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

struct Recipe {
  std::uint64_t seed = 0;
  int row = -1;  // a row that the program must contain, if possible
  bool silicon =
      false;  // only code whose result a GPU of compute capability 9.0 must reproduce bit for bit

  // The recipe as one number, for replays: the row is in bits 48 and up.
  std::uint64_t number() const {
    return (static_cast<std::uint64_t>(row + 1) << 48) |
           (static_cast<std::uint64_t>(silicon) << 47) | (seed & 0x7fffffffffff);
  }
  static Recipe of(std::uint64_t number) {
    return {number & 0x7fffffffffff, static_cast<int>(number >> 48) - 1, (number >> 47 & 1) != 0};
  }
};

// Returns the same program for the same recipe.
Program generate(const Recipe& recipe);

// The rows of the table that the program contains, each once, in order.
std::vector<int> rows_of(const Program& program);

// The number of statements and of instructions in units, for reports and the reducer.
std::size_t size_of(const Program& program);

}  // namespace lockstep::fuzz::differential
