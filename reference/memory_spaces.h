// References of the memory spaces, exact: 32-bit unsigned integers, modulo 2^32.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace lockstep::reference {

using SpaceWords = Eigen::Array<std::uint32_t, Eigen::Dynamic, 1>;

// The output of `threads` threads with local arrays of `words` words each: row i is a[k] = seed +
// words * i + k, rotated by i + shift.
SpaceWords local_rotation(std::int64_t threads, int words, std::uint32_t seed, int shift);

// Replaces every element by the sum of its block of `block` elements. x holds whole blocks
// (asserted).
SpaceWords block_sums(std::span<const std::uint32_t> x, int block);

}  // namespace lockstep::reference
