// Facts about an instruction's values that need no execution. They exclude changes without effect.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// The instruction that writes a register, if it is the only one and unconditional; otherwise
// nullptr.
const ptx::Instruction* definition_of(const ptx::Function& function, std::uint32_t reg);

// The number of reads of a register in the function.
std::size_t reads_of(const ptx::Function& function, std::uint32_t reg);

// The largest value of an integer type, as an unsigned number. For a signed type, the largest non-
// negative value.
std::uint64_t largest(isa::Type type);

// An upper bound of an integer operand, as an unsigned number. Derived from the largest blocks and
// grids of every GPU (CUDA programming guide, "Compute capabilities") through the computations on
// them. nullopt if no bound is known.
std::optional<std::uint64_t> most(const ptx::Function& function, const ptx::Operand& operand);

// Whether an operand of a floating-point type is a constant zero of either sign.
bool is_zero(const ptx::Function& function, const ptx::Operand& operand, isa::Type type);

// Whether the instruction only belongs to nvcc's choice before a 64-bit division, which uses a
// 32-bit division if both numbers fit 32 bits. The choice has no counterpart in the source, and
// both ways give the same result.
bool chooses_division(const ptx::Function& function, std::uint32_t index);

// Whether a comparison only selects the smaller or larger of its two integers: if they are equal,
// either is correct.
bool chooses_extreme(const ptx::Function& function, std::uint32_t index);

}  // namespace lockstep::mutation
