// The allowed difference between a result of the simulated GPU and silicon's.
#pragma once

#include <cstdint>
#include <span>

#include "simulator/vectors/vectors.h"

namespace lockstep::vectors {

// Whether word `output` of one thread's results agrees. Exact instructions must agree bit for bit.
// An approximate instruction must be within the error that the PTX manual allows silicon (9.7.3,
// 9.7.4), plus the rounding of the simulated GPU's own result; zeros, infinities and NaNs must
// still be equal.
bool agree(const VectorForm& form, std::size_t output, std::span<const std::uint64_t> inputs,
           std::uint64_t recorded, std::uint64_t got);

}  // namespace lockstep::vectors
