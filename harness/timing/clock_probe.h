// Measures the clock of the multiprocessors with a kernel: cycles (%clock64) against nanoseconds
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

// Launches one thread that spins for about `nanoseconds` and stores its readings to `reading`,
// which the device must be able to write.
cudaError_t read_clock(ClockReading* reading, unsigned nanoseconds, cudaStream_t stream);

}  // namespace lockstep
