// The counters of a run as a table with one line a kernel.
#pragma once

#include <string>

#include "simulator/exec/run_record.h"

namespace lockstep::exec {

// Columns:
// - launches, thread instructions, warp instructions;
// - active lanes a warp instruction (of 32);
// - 32-byte sectors a request, for global loads and for stores (4 is perfect for 4-byte elements);
// - bank conflicts (extra passes) of shared memory, atomics, barriers;
// - the kernel, last because its name is long.
//
// Counts PTX instructions, not machine code. Empty if no kernel has totals.
std::string counter_table(const RunRecord& record);

}  // namespace lockstep::exec
