// Programs of random choices: the PTX is always legal, whatever the bytes are, but its addresses
// need not be.
//
// Instructions come from the table of forms (isa/forms.h). Every row has the same probability,
// except that rows that access memory are more frequent. Addresses point into, beside and far away
// from global, shared, local, constant and parameter memory, of the own block and of a neighbour in
// the cluster. Branches go anywhere, also backwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "simulator/engine/launch/launch.h"

namespace lockstep::fuzz {

struct RandomProgram {
  std::string ptx;  // kernel "main"(written buffer, unwritten buffer, freed buffer, 64 bytes)
  engine::Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  std::uint32_t checks = 0;
  std::uint64_t schedule_seed = 0;
};

// Each choice uses one or two of `bytes`. When they are used up, every choice is the first option.
RandomProgram random_program(std::span<const std::uint8_t> bytes);

}  // namespace lockstep::fuzz
