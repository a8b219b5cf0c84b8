// What can be said of an instruction's values without running it: enough to leave out changes that
// nothing can show.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// The instruction that writes a register, when it is one alone and always does it; nullptr
// otherwise.
const ptx::Instruction* definition_of(const ptx::Function& function, std::uint32_t reg);

// How often the function reads a register.
std::size_t reads_of(const ptx::Function& function, std::uint32_t reg);

// The largest value of an integer type, read as unsigned: of a signed one the largest that is not
// negative.
std::uint64_t largest(isa::Type type);

// The largest value that an integer operand can have, read as unsigned: from the sizes of blocks
// and grids that every GPU keeps to (CUDA programming guide, "Compute capabilities"), through what
// is computed from them. nullopt: nothing is known.
std::optional<std::uint64_t> most(const ptx::Function& function, const ptx::Operand& operand);

// Whether an operand of that floating-point type is a zero, of either sign, written as a constant.
bool is_zero(const ptx::Function& function, const ptx::Operand& operand, isa::Type type);

// Whether the instruction only belongs to the choice that nvcc makes before a 64-bit division: of
// 32 bits when both numbers have no more. It stands for nothing in a source, and the longer way
// gives the same.
bool chooses_division(const ptx::Function& function, std::uint32_t index);

// Whether a comparison only chooses the smaller or larger one of the integers that it compares: of
// equal ones each is as good.
bool chooses_extreme(const ptx::Function& function, std::uint32_t index);

}  // namespace lockstep::mutation
