// Durations on a GPU: two pieces of work, measured in turn on one stream with CUDA events, with the
// clock beside each. docs/reference/timing.md says how; harness/timing/timing_verdict.h judges
// them. On the simulated GPU nothing is measured.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/timing/timing_verdict.h"

namespace lockstep {

// Enqueues work on the stream, once; what it answers other than "" ends the measurement.
using Work = std::function<std::string(cudaStream_t)>;

struct StopwatchRules {
  int pairs = 60;   // measured
  int warm_up = 3;  // runs of each before the first pair
  double sample_us =
      1000;  // a sample is as many runs back to back as take about this long, at least one
};

// What was seen of `runs` runs of a piece of work, back to back. An error is thrown.
struct Sampled {
  double us = 0;   // of one run
  double mhz = 0;  // the clock right behind them
};
using Sample = std::function<Sampled(const Work& work, int runs)>;

struct Measured {
  std::vector<Pair> pairs;     // microseconds a run
  int a_runs = 1, b_runs = 1;  // runs a sample
  std::string error;           // a sentence; then the pairs say nothing
};

// A B, B A, A B, ...: whichever is second finds the GPU as the other left it, so each is second
// equally often.
Measured measure_pairs(const Work& a, const Work& b, const StopwatchRules& rules = {});

// The pairs, judged. A difference is reported when a second measurement, with the two exchanged,
// finds it too.
struct MeasuredSpeed {
  SpeedComparison comparison;
  std::string error;  // a sentence; then the comparison says nothing
};
MeasuredSpeed measure_speed(const Work& a, const Work& b, const TimingRules& rules = {},
                            const StopwatchRules& stopwatch = {});

// One piece of work by itself: microseconds a run, of each sample whose clock held.
struct MeasuredAlone {
  std::vector<double> us;
  std::size_t throttled = 0;
  std::string error;
};
MeasuredAlone measure(const Work& work, const StopwatchRules& rules = {});

// The same by another stopwatch than the GPU's.
Measured measure_pairs_by(const Sample& sample, const Work& a, const Work& b,
                          const StopwatchRules& rules);
MeasuredSpeed measure_speed_by(const Sample& sample, const Work& a, const Work& b,
                               const TimingRules& rules, const StopwatchRules& stopwatch);
MeasuredAlone measure_by(const Sample& sample, const Work& work, const StopwatchRules& rules);

}  // namespace lockstep
