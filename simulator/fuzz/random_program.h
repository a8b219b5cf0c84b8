// Generates programs from random choices. The PTX is legal for every input; the addresses need not
// be.
//
// Instructions come from the table of forms (isa/forms.h), with the same probability for every row
// and a higher one for rows that access memory. Addresses point into, beside and far away from
// global, shared, local, constant and parameter memory, of the block itself and of another block in
// the cluster. Branches may have any target, including earlier instructions.
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

// Each choice consumes one or two bytes of `bytes`. After the last byte every choice is the first.
RandomProgram random_program(std::span<const std::uint8_t> bytes);

}  // namespace lockstep::fuzz
