#pragma once

namespace lockstep::runtime {

// Threads of this process.
int thread_count();

}  // namespace lockstep::runtime
