// Prints litmus programs as PTX: one kernel a program, many kernels a module.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

// An operation of a thread.
struct OpName {
  std::uint8_t thread = 0, op = 0;
  auto operator<=>(const OpName&) const = default;
};

// The size of the results: 8 bytes for each operation of each thread, whether or not it reads.
inline constexpr std::uint32_t kResultBytes = 8 * kMaxOps * kMaxThreads;
constexpr std::uint32_t result_offset(int thread, int op) {
  return static_cast<std::uint32_t>(8 * (thread * kMaxOps + op));
}

struct Module {
  // Kernels k0, k1, ... with two parameters: an arena of zeroed global memory, and a buffer for
  // results.
  std::string text;
  // For each kernel, the operation to which each line belongs, from its first line on.
  struct Lines {
    int first = 0;
    std::vector<std::optional<OpName>> of;
  };
  std::vector<Lines> lines;
};

Module to_ptx(std::span<const Program> programs);

}  // namespace lockstep::litmus
