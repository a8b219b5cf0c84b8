// Static properties of an instruction's values, used to omit changes without a visible effect.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// The instruction that writes a register, if there is only one and it has no guard; nullptr
// otherwise.
const ptx::Instruction* definition_of(const ptx::Function& function, std::uint32_t reg);

// The number of times that the function reads a register.
std::size_t reads_of(const ptx::Function& function, std::uint32_t reg);

// The largest value of an integer type, read as unsigned; for a signed type, its largest
// non-negative value.
std::uint64_t largest(isa::Type type);

// The largest value that an integer operand can have, read as unsigned. It is derived from the
// limits of blocks and grids on every GPU (CUDA programming guide, "Compute capabilities"), through
// the computations on them. nullopt: unknown.
std::optional<std::uint64_t> most(const ptx::Function& function, const ptx::Operand& operand);

// Whether a floating-point operand is a constant zero, of either sign.
bool is_zero(const ptx::Function& function, const ptx::Operand& operand, isa::Type type);

// Whether the instruction only belongs to nvcc's choice before a 64-bit division between 32-bit and
// 64-bit division. It corresponds to nothing in the source, and both ways give the same result.
bool chooses_division(const ptx::Function& function, std::uint32_t index);

// Whether a comparison only selects the smaller or larger of the integers that it compares: equal
// ones are interchangeable.
bool chooses_extreme(const ptx::Function& function, std::uint32_t index);

}  // namespace lockstep::mutation
