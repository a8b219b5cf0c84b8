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

// Long enough that a step of the nanosecond clock is a hundredth of it; short against a sample.
constexpr unsigned kProbeNanoseconds = 100'000;
// More runs in a sample mean that the work is too small to be a kernel on a GPU.
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

  // Returns the microseconds of one of `runs` runs. The clock is read directly after them, while
  // the GPU is in the same state. The probe before them keeps the GPU busy while the host enqueues,
  // so that the GPU does not wait for launches.
  Sampled sample(const Work& work, int runs) {
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
    return {1e3 * ms / runs, reading_->mhz()};
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  ClockReading* reading_ = nullptr;
};

// The number of runs for a sample of the prescribed length.
int runs_for(const Sample& sample, const Work& work, const StopwatchRules& rules) {
  for (int i = 0; i < std::max(1, rules.warm_up); ++i) sample(work, 1);
  // The minimum of several, because a disturbance would give the two works samples of different
  // lengths. The overhead of a sample would then count more for the shorter one.
  double us = sample(work, 4).us;
  for (int i = 1; i < kCalibrations; ++i) us = std::min(us, sample(work, 4).us);
  us = std::max(us, 0.01);
  return static_cast<int>(
      std::clamp(std::round(rules.sample_us / us), 1.0, static_cast<double>(kMaxRuns)));
}

// Calls `measure` with the GPU's stopwatch.
template <class Result, class Measure>
Result on_the_gpu(Measure&& measure) {
  try {
    Stopwatch watch;
    return measure([&watch](const Work& work, int runs) { return watch.sample(work, runs); });
  } catch (const std::exception& e) {
    Result result;
    result.error = e.what();
    return result;
  }
}

}  // namespace

Measured measure_pairs_by(const Sample& sample, const Work& a, const Work& b,
                          const StopwatchRules& rules) {
  Measured m;
  try {
    m.a_runs = runs_for(sample, a, rules);
    m.b_runs = runs_for(sample, b, rules);
    for (int i = 0; i < rules.pairs; ++i) {
      Sampled of_a, of_b;
      if (i % 2 == 0) of_a = sample(a, m.a_runs);
      of_b = sample(b, m.b_runs);
      if (i % 2 != 0) of_a = sample(a, m.a_runs);
      m.pairs.push_back({of_a.us, of_b.us, std::min(of_a.mhz, of_b.mhz)});
    }
  } catch (const std::exception& e) {
    m.error = e.what();
  }
  return m;
}

MeasuredSpeed measure_speed_by(const Sample& sample, const Work& a, const Work& b,
                               const TimingRules& rules, const StopwatchRules& stopwatch) {
  const Measured m = measure_pairs_by(sample, a, b, stopwatch);
  if (!m.error.empty()) return {{}, m.error};
  const SpeedComparison c = compare_speed(m.pairs, rules);
  if (c.speed != Speed::kFaster && c.speed != Speed::kSlower) return {c, {}};
  const Measured again = measure_pairs_by(sample, b, a, stopwatch);
  if (!again.error.empty()) return {{}, again.error};
  return {confirmed(c, compare_speed(again.pairs, rules)), {}};
}

MeasuredAlone measure_by(const Sample& sample, const Work& work, const StopwatchRules& rules) {
  MeasuredAlone out;
  try {
    const int runs = runs_for(sample, work, rules);
    std::vector<Sampled> samples;
    std::vector<double> clocks;
    for (int i = 0; i < rules.pairs; ++i) {
      samples.push_back(sample(work, runs));
      clocks.push_back(samples.back().mhz);
    }
    const double usual = median_of(clocks, TimingRules{}.alpha).median;
    for (const Sampled& s : samples) {
      if (s.mhz < TimingRules{}.clock_share * usual) {
        ++out.throttled;
      } else {
        out.us.push_back(s.us);
      }
    }
  } catch (const std::exception& e) {
    out.error = e.what();
  }
  return out;
}

Measured measure_pairs(const Work& a, const Work& b, const StopwatchRules& rules) {
  return on_the_gpu<Measured>(
      [&](const Sample& sample) { return measure_pairs_by(sample, a, b, rules); });
}

MeasuredSpeed measure_speed(const Work& a, const Work& b, const TimingRules& rules,
                            const StopwatchRules& stopwatch) {
  return on_the_gpu<MeasuredSpeed>(
      [&](const Sample& sample) { return measure_speed_by(sample, a, b, rules, stopwatch); });
}

MeasuredAlone measure(const Work& work, const StopwatchRules& rules) {
  return on_the_gpu<MeasuredAlone>(
      [&](const Sample& sample) { return measure_by(sample, work, rules); });
}

}  // namespace lockstep
