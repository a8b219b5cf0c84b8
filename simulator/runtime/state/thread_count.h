#pragma once

namespace lockstep::runtime {

// The number of threads of this process.
int thread_count();

}  // namespace lockstep::runtime
