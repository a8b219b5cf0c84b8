// The tolerance for a result of the simulated GPU compared with hardware.
#pragma once

#include <cstdint>
#include <span>

#include "simulator/vectors/vectors.h"

namespace lockstep::vectors {

// Whether word `output` of one thread's results agrees: bit for bit or, for an approximate
// instruction, within the error that the PTX manual allows hardware (9.7.3, 9.7.4), plus the
// rounding of the simulated result. Zeros, infinities and NaNs must always be equal.
bool agree(const VectorForm& form, std::size_t output, std::span<const std::uint64_t> inputs,
           std::uint64_t recorded, std::uint64_t got);

}  // namespace lockstep::vectors
