// Builds a kernel for each example of the table of instruction forms, for tests that run every row.
//
// The example is in a loop of a few iterations. Its sources are set before the loop and not used
// after it. Its results, and values of every width that are computed after it, are stored in each
// iteration. So a register whose slot is reused too early shows in the stored values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/isa/form_examples.h"

namespace lockstep::engine {

// All kernels run as one block of this many threads.
inline constexpr std::uint32_t kRowThreads = 32;
// Bytes of a kernel's buffers: input and data (one range for each thread), and output.
inline constexpr std::uint32_t kRowStretch = 256, kRowOutput = 512;

// Kernels row0, row1 ... (.param .u64 input, data, output, unwritten; .param .align 16 .b8
// argument[64]), one for each example of a row, in a module for the oldest target that supports the
// row. Every word of the input is a small number that differs between threads.
enum class Before : std::uint8_t {
  kNothing,
  kOnce,       // one iteration of the loop instead of several
  kUnwritten,  // the example's destination registers hold uninitialised values before it, and its
               // results are used in a computation
};
std::string row_module(std::span<const isa::Example> examples, Before before = Before::kNothing);

// The example with its results in registers that it reads: one variant for every pair of a
// destination and a source of the same width. Each computes the same result. Run such a module for
// one iteration only (Before::kOnce), since its sources are overwritten.
std::vector<isa::Example> aliased(const isa::Example& example);

}  // namespace lockstep::engine
