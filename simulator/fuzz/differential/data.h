// The initial memory of programs. It is the same for all programs and exists once.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::fuzz::differential {

inline constexpr std::uint32_t kInputBytes = 1 << 18;

// The input of kernels: special values of every type and random values.
std::span<const std::uint32_t> input_data();
// The constant table of every module.
std::span<const std::uint32_t> constant_data();

}  // namespace lockstep::fuzz::differential
