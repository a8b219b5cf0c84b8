// Prints the counters of a run as a table with one line for each kernel.
#pragma once

#include <string>

#include "simulator/exec/run_record.h"

namespace lockstep::exec {

// Columns:
// - launches, instructions of threads and of warps;
// - lanes active in a warp instruction (of 32);
// - 32-byte sectors a request, of global loads and of stores (4 is perfect for 4-byte elements);
// - bank conflicts (extra passes) of shared memory, atomics, barriers;
// - the kernel, last because its name is long.
//
// The counts are of PTX, not of machine code. Empty when no kernel has totals.
std::string counter_table(const RunRecord& record);

}  // namespace lockstep::exec
