// Assigns slots in a warp's register file to a function's virtual registers.
//
// nvcc's PTX uses a separate register for nearly every value. Sharing slots between registers that
// are never live together keeps a warp's register file in the L1 cache.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/program/load.h"
#include "simulator/program/operation.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

struct RegisterAllocation {
  std::vector<program::Slot> slots;      // by register; kNoSlot if the function never uses it
  std::uint32_t bytes = 0;               // of the register file
  int live = 0;                          // the most 32-bit registers live at once
  std::vector<std::uint32_t> undefined;  // registers that some path reads before it writes them
};

// With RegisterPlaces::kShared, registers that are never live together share room.
RegisterAllocation allocate_registers(const ptx::Function& f, program::RegisterPlaces places);

}  // namespace lockstep::compile
