// Makes a kernel of each example of the table of instruction forms, for tests that run every row.
//
// The example stands in a loop of a few turns. Its sources are set before the loop and not used
// after it; its results, and values of every width that are computed after it, are stored in each
// turn. So a register that loses its place too early shows in what is stored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/isa/form_examples.h"

namespace lockstep::engine {

// All kernels run as one block of this many threads.
inline constexpr std::uint32_t kRowThreads = 32;
// Bytes of the buffers that a kernel takes: input and data (one stretch a thread), and output.
inline constexpr std::uint32_t kRowStretch = 256, kRowOutput = 512;

// Kernels row0, row1 ... (.param .u64 input, data, output, unwritten; .param .align 16 .b8
// argument[64]), for the examples of one row, in a module for the oldest target that has it. Every
// word of the input is a small number that differs between threads.
enum class Before : std::uint8_t {
  kNothing,
  kOnce,       // one turn of the loop instead of several
  kUnwritten,  // the registers that the example writes hold values that nobody wrote, and what it
               // leaves there is computed with
};
std::string row_module(std::span<const isa::Example> examples, Before before = Before::kNothing);

// The example with its results in registers that it reads: one for every pair of a destination and
// a source of one width. What it computes is the same. Run such a module for one turn alone,
// Before::kOnce: the sources are gone after it.
std::vector<isa::Example> aliased(const isa::Example& example);

}  // namespace lockstep::engine
