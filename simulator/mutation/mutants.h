// All mutants of a program's device code. Each changes one instruction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/mutation/mutant.h"
#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// The mutants of one function, in the order of its instructions.
std::vector<Mutant> mutants_of(std::span<const ptx::Module> modules, std::uint32_t module,
                               std::uint32_t function);

// Changes the modules into the mutant. Throws std::out_of_range if the place does not exist.
void make_mutant(std::span<ptx::Module> modules, const Place& place);

}  // namespace lockstep::mutation
