// What the timing tests share: device memory, two contestants, and a verdict that is printed and
// goes to the passport.
//
// A contestant's output is looked at after it was timed, so that what was fast is known to have
// been right.
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

// Timing is of silicon: on the simulated GPU each test is NOT_APPLICABLE.
class Timing : public ::testing::Test {
 protected:
  void SetUp() override;
};

// Device memory, for as long as it lives; throws std::runtime_error where there is none. Filled
// with bytes that are neither all alike nor NaN: 32-bit words of small integers, each with the bits
// of a float near 1 when `floats`.
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

// Floats from 1 to 2, a different one an element, and integers from 0 to `below` - 1 in no order.
std::vector<float> ordinary_floats(std::size_t count);
std::vector<int> scattered_integers(std::size_t count, int below);

// A launcher's answer as Work wants it.
inline std::string text(const kernels::LaunchStatus& status) { return status.message; }

struct Contestant {
  std::string name;
  Work work;
};

// Measures b against a, prints and records the verdict and both durations. An error is a failure of
// the test.
SpeedComparison compare(const std::string& where, const Contestant& a, const Contestant& b,
                        const TimingRules& rules = {}, const StopwatchRules& stopwatch = {});

}  // namespace lockstep::timing
