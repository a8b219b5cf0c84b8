// Prints litmus programs as PTX: a module with one kernel for each.
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

// A thread's results: 8 bytes for each of its operations, whether it reads or not.
inline constexpr std::uint32_t kResultBytes = 8 * kMaxOps * kMaxThreads;
constexpr std::uint32_t result_offset(int thread, int op) {
  return static_cast<std::uint32_t>(8 * (thread * kMaxOps + op));
}

struct Module {
  // Kernels k0, k1, ... with two parameters: an arena of global memory, all zero, and space for
  // results.
  std::string text;
  // By kernel, and by line from its first one: the operation to which the line belongs.
  struct Lines {
    int first = 0;
    std::vector<std::optional<OpName>> of;
  };
  std::vector<Lines> lines;
};

Module to_ptx(std::span<const Program> programs);

}  // namespace lockstep::litmus
