// Reference of the staging kernels, exact: 32-bit unsigned integers, modulo 2^32.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace lockstep::reference {

using Words = Eigen::Array<std::uint32_t, Eigen::Dynamic, 1>;

// y[i] = a * x[i] + b.
Words thread_map(std::span<const std::uint32_t> x, std::uint32_t a, std::uint32_t b);

// By tiles of `length` elements, the last of which may be shorter. reverse_tiles: the elements in
// reverse order. rotate_tiles: each element moves to the previous place, the first to the end.
// difference_tiles: each element minus its predecessor; the first is unchanged. length >= 1
// (asserted).
Words reverse_tiles(std::span<const std::uint32_t> x, std::int64_t length);
Words rotate_tiles(std::span<const std::uint32_t> x, std::int64_t length);
Words difference_tiles(std::span<const std::uint32_t> x, std::int64_t length);

// Row-major rows x columns becomes row-major columns x rows. x has rows * columns elements
// (asserted).
Words transpose(std::span<const std::uint32_t> x, std::int64_t rows, std::int64_t columns);

}  // namespace lockstep::reference
