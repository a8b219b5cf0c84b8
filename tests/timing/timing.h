// Common code of the timing tests: device memory, two contestants, and a verdict that is printed
// and recorded in the passport.
//
// A contestant's output is checked after its timing, so that only correct results are timed.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/timing/stopwatch.h"
#include "harness/timing/timing_verdict.h"
#include "kernels/launch_status.h"

namespace lockstep::timing {

// Timing needs silicon: on the simulated GPU each test is NOT_APPLICABLE.
class Timing : public ::testing::Test {
 protected:
  void SetUp() override;
};

// Device memory, freed by the destructor; the constructor throws std::runtime_error if allocation
// fails. Filled with varied bytes that contain no NaN: 32-bit words of small integers, each with
// the bits of a float near 1 if `floats`.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }
  void write(const void* host, std::size_t bytes);
  template <class T>
  std::vector<T> read() const {
    std::vector<T> host(bytes_ / sizeof(T));
    fetch(host.data());
    return host;
  }

 private:
  void fetch(void* host) const;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Distinct floats from 1 to 2, and pseudo-random integers from 0 to `below` - 1.
std::vector<float> ordinary_floats(std::size_t count);
std::vector<int> scattered_integers(std::size_t count, int below);

// A launcher's status in the form that Work expects: the message.
inline std::string text(const kernels::LaunchStatus& status) { return status.message; }

struct Contestant {
  std::string name;
  Work work;
};

// Times b against a; prints and records the verdict and both durations. An error fails the test.
SpeedComparison compare(const std::string& where, const Contestant& a, const Contestant& b,
                        const TimingRules& rules = {}, const StopwatchRules& stopwatch = {});

}  // namespace lockstep::timing
