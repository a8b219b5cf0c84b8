// The bank of values that are equal in all lanes: immediates, addresses of variables. Each value is there once, in every lane.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "simulator/engine/instruction.h"
#include "simulator/engine/program.h"

namespace lockstep::decode {

class ConstantBank {
 public:
  // A value of `bytes` bytes (1, 2, 4, 8 or 16; the upper half of 16 is zero).
  engine::Slot value(std::uint64_t bits, int bytes);
  engine::Slot predicate(bool value);
  // Moves the bank into the program.
  void finish(engine::Program& program);

 private:
  std::vector<std::byte> bytes_;
  std::map<std::pair<std::uint64_t, int>, engine::Slot> known_;  // width 0: predicates
};

}  // namespace lockstep::decode
