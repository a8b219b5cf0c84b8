// The file of values that are equal in all lanes: immediates and addresses of variables. It
// contains each value once, repeated for every lane.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "simulator/program/operation.h"
#include "simulator/program/program.h"

namespace lockstep::compile {

class ConstantFile {
 public:
  // The slot of a value with `bytes` bytes (1, 2, 4, 8 or 16; the upper half of 16 is zero).
  program::Slot value(std::uint64_t bits, int bytes);
  program::Slot predicate(bool value);
  // Moves the file into the program.
  void finish(program::Program& program);

 private:
  std::vector<std::byte> bytes_;
  std::map<std::pair<std::uint64_t, int>, program::Slot> known_;  // width 0: predicates
};

}  // namespace lockstep::compile
