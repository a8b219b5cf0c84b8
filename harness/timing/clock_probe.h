// The clock that the multiprocessors run at, measured by a kernel: cycles (%clock64) against
// nanoseconds
// (%globaltimer).
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

struct ClockReading {
  unsigned long long cycles = 0, nanoseconds = 0;
  double mhz() const {
    return nanoseconds == 0 ? 0
                            : 1e3 * static_cast<double>(cycles) / static_cast<double>(nanoseconds);
  }
};

// Enqueues one thread that spins for about `nanoseconds` and stores what it saw. `reading` is
// memory that the device can write.
cudaError_t read_clock(ClockReading* reading, unsigned nanoseconds, cudaStream_t stream);

}  // namespace lockstep
