// Slots of a function's virtual registers in a warp's register file.
//
// In nvcc's PTX nearly every value has its own register. Registers that are never live together
// share slots, which keeps a warp's register file in the first-level cache.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/program/load.h"
#include "simulator/program/operation.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

struct RegisterAllocation {
  std::vector<program::Slot> slots;      // by register; kNoSlot for an unused one
  std::uint32_t bytes = 0;               // of the register file
  int live = 0;                          // the most 32-bit registers live at once
  std::vector<std::uint32_t> undefined;  // registers that some path reads before it writes them
};

// With RegisterPlaces::kShared, registers that are never live together share slots.
RegisterAllocation allocate_registers(const ptx::Function& f, program::RegisterPlaces places);

}  // namespace lockstep::compile
