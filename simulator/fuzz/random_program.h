// Programs made of random choices: legal PTX, whatever the bytes say, with addresses that need not
// be.
//
// Instructions come from the table of forms (isa/forms.h), all of them with the same chance for
// every row and a better one for those that touch memory; their addresses point into, beside and
// far away from global, shared, local, constant and parameter memory, the block's own and a
// neighbour's in the cluster. Branches go anywhere, backwards too.
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

// Each choice takes a byte or two of `bytes`; where they are used up every choice is the first.
RandomProgram random_program(std::span<const std::uint8_t> bytes);

}  // namespace lockstep::fuzz
