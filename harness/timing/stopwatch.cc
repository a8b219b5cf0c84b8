#include "harness/timing/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/timing/clock_probe.h"

namespace lockstep {
namespace {

// Long enough that a step of the nanosecond clock is a percent of it, short beside a sample.
constexpr unsigned kProbeNanoseconds = 100'000;
// A sample of more runs than this is of something too small to be a kernel on a GPU.
constexpr int kMaxRuns = 10'000;
constexpr int kCalibrations = 3;

void require(cudaError_t error, const char* tried) {
  if (error != cudaSuccess)
    throw std::runtime_error(
        fmt::format("{}: {}, {}", tried, cudaGetErrorName(error), cudaGetErrorString(error)));
}

class Stopwatch {
 public:
  Stopwatch() {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    require(cudaEventCreate(&begin_), "making an event");
    require(cudaEventCreate(&end_), "making an event");
    void* memory = nullptr;
    require(cudaMallocHost(&memory, sizeof *reading_), "page-locked memory for the clock");
    reading_ = static_cast<ClockReading*>(memory);
  }
  ~Stopwatch() {
    cudaFreeHost(reading_);
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
    cudaStreamDestroy(stream_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Microseconds that one of `runs` runs took. The clock is read right behind them, while the GPU
  // is still as they left it; the probe before them keeps the GPU busy while the host enqueues, so
  // that launches wait for the GPU and not the GPU for launches.
  double sample(const Work& work, int runs, double& mhz) {
    require(read_clock(reading_, kProbeNanoseconds, stream_), "reading the clock");
    require(cudaEventRecord(begin_, stream_), "recording an event");
    for (int i = 0; i < runs; ++i) {
      if (std::string error = work(stream_); !error.empty()) throw std::runtime_error(error);
    }
    require(cudaEventRecord(end_, stream_), "recording an event");
    require(read_clock(reading_, kProbeNanoseconds, stream_), "reading the clock");
    require(cudaStreamSynchronize(stream_), "waiting for the work");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin_, end_), "reading the events");
    mhz = reading_->mhz();
    return 1e3 * ms / runs;
  }

  int runs_for(const Work& work, const StopwatchRules& rules) {
    double mhz = 0, us = 0;
    for (int i = 0; i < std::max(1, rules.warm_up); ++i) us = sample(work, 1, mhz);
    // The least of some: whatever disturbs one would give the two contestants samples of different
    // lengths, and what a sample costs by itself would count more for the shorter.
    us = sample(work, 4, mhz);
    for (int i = 1; i < kCalibrations; ++i) us = std::min(us, sample(work, 4, mhz));
    us = std::max(us, 0.01);
    return static_cast<int>(
        std::clamp(std::round(rules.sample_us / us), 1.0, static_cast<double>(kMaxRuns)));
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  ClockReading* reading_ = nullptr;
};

}  // namespace

Measured measure_pairs(const Work& a, const Work& b, const StopwatchRules& rules) {
  Measured m;
  try {
    Stopwatch watch;
    m.a_runs = watch.runs_for(a, rules);
    m.b_runs = watch.runs_for(b, rules);
    for (int i = 0; i < rules.pairs; ++i) {
      Pair p;
      double a_mhz = 0, b_mhz = 0;
      if (i % 2 == 0) p.a_us = watch.sample(a, m.a_runs, a_mhz);
      p.b_us = watch.sample(b, m.b_runs, b_mhz);
      if (i % 2 != 0) p.a_us = watch.sample(a, m.a_runs, a_mhz);
      p.mhz = std::min(a_mhz, b_mhz);
      m.pairs.push_back(p);
    }
  } catch (const std::exception& e) {
    m.error = e.what();
  }
  return m;
}

MeasuredSpeed measure_speed(const Work& a, const Work& b, const TimingRules& rules,
                            const StopwatchRules& stopwatch) {
  const Measured m = measure_pairs(a, b, stopwatch);
  if (!m.error.empty()) return {{}, m.error};
  const SpeedComparison c = compare_speed(m.pairs, rules);
  if (c.speed != Speed::kFaster && c.speed != Speed::kSlower) return {c, {}};
  const Measured again = measure_pairs(b, a, stopwatch);
  if (!again.error.empty()) return {{}, again.error};
  return {confirmed(c, compare_speed(again.pairs, rules)), {}};
}

MeasuredAlone measure(const Work& work, const StopwatchRules& rules) {
  MeasuredAlone out;
  try {
    Stopwatch watch;
    const int runs = watch.runs_for(work, rules);
    std::vector<std::pair<double, double>> samples;  // microseconds, MHz
    std::vector<double> clocks;
    for (int i = 0; i < rules.pairs; ++i) {
      double mhz = 0;
      const double us = watch.sample(work, runs, mhz);
      samples.emplace_back(us, mhz);
      clocks.push_back(mhz);
    }
    const double usual = median_of(clocks, TimingRules{}.alpha).median;
    for (const auto& [us, mhz] : samples) {
      if (mhz < TimingRules{}.clock_share * usual) {
        ++out.throttled;
      } else {
        out.us.push_back(us);
      }
    }
  } catch (const std::exception& e) {
    out.error = e.what();
  }
  return out;
}

}  // namespace lockstep
