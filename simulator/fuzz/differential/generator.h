// Makes random programs: free of races and of undefined behaviour, with every row of the table of
// instruction forms that can stand in one.
#pragma once

#include <cstdint>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

struct Recipe {
  std::uint64_t seed = 0;
  int row = -1;          // a row that the program shall hold, if it can
  bool silicon = false;  // only what a GPU of compute capability 9.0 must compute bit for bit

  // A recipe as one number, for replays: the row in bits 48 and up.
  std::uint64_t number() const {
    return (static_cast<std::uint64_t>(row + 1) << 48) |
           (static_cast<std::uint64_t>(silicon) << 47) | (seed & 0x7fffffffffff);
  }
  static Recipe of(std::uint64_t number) {
    return {number & 0x7fffffffffff, static_cast<int>(number >> 48) - 1, (number >> 47 & 1) != 0};
  }
};

// The same program for the same recipe, always.
Program generate(const Recipe& recipe);

// Rows of the table that the program holds, each once, in order.
std::vector<int> rows_of(const Program& program);

// Statements and instructions of units, for reports and the reducer.
std::size_t size_of(const Program& program);

}  // namespace lockstep::fuzz::differential
