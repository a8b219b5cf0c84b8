// The input memory of programs. All programs share it, so it exists once.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::fuzz::differential {

inline constexpr std::uint32_t kInputBytes = 1 << 18;

// The data that kernels read: special values of every type among random ones.
std::span<const std::uint32_t> input_data();
// The constant table of every module.
std::span<const std::uint32_t> constant_data();

}  // namespace lockstep::fuzz::differential
