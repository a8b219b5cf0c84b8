// Durations on a GPU: two pieces of work, measured alternately on one stream with CUDA events and
// the clock. docs/reference/timing.md describes the method; harness/timing/timing_verdict.h judges
// the durations. Durations on the simulated GPU mean nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/timing/timing_verdict.h"

namespace lockstep {

// Enqueues the work on the stream once. A result other than "" is an error that ends the
// measurement.
using Work = std::function<std::string(cudaStream_t)>;

struct StopwatchRules {
  int pairs = 60;   // measured pairs
  int warm_up = 3;  // runs of each work before the first pair
  double sample_us =
      1000;  // a sample has as many back-to-back runs as take about this long, at least one
};

// The result of `runs` back-to-back runs of a piece of work. Errors are exceptions.
struct Sampled {
  double us = 0;   // of one run, on average
  double mhz = 0;  // the clock directly after the runs
};
using Sample = std::function<Sampled(const Work& work, int runs)>;

struct Measured {
  std::vector<Pair> pairs;     // microseconds per run
  int a_runs = 1, b_runs = 1;  // runs per sample
  std::string error;           // a sentence; the pairs are then invalid
};

// Measures in the order A B, B A, A B, ...: the second work of a pair finds the GPU as the first
// left it, so each work is second equally often.
Measured measure_pairs(const Work& a, const Work& b, const StopwatchRules& rules = {});

// The verdict over the pairs. A difference is reported only if a second measurement, with the two
// exchanged, confirms it.
struct MeasuredSpeed {
  SpeedComparison comparison;
  std::string error;  // a sentence; the comparison is then invalid
};
MeasuredSpeed measure_speed(const Work& a, const Work& b, const TimingRules& rules = {},
                            const StopwatchRules& stopwatch = {});

// One piece of work alone: microseconds per run, for each sample with a steady clock.
struct MeasuredAlone {
  std::vector<double> us;
  std::size_t throttled = 0;
  std::string error;
};
MeasuredAlone measure(const Work& work, const StopwatchRules& rules = {});

// The same with a stopwatch of the caller's.
Measured measure_pairs_by(const Sample& sample, const Work& a, const Work& b,
                          const StopwatchRules& rules);
MeasuredSpeed measure_speed_by(const Sample& sample, const Work& a, const Work& b,
                               const TimingRules& rules, const StopwatchRules& stopwatch);
MeasuredAlone measure_by(const Sample& sample, const Work& work, const StopwatchRules& rules);

}  // namespace lockstep
