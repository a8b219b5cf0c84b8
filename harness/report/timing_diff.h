// Compares the durations of two passports, or of several passports of each side.
//
// Durations of single runs are only information: the same program on the same GPU takes other times
// in another process, with other addresses and another clock. On an H100, one timing varied from
// 16.9 to 22.2 us over 24 runs in a row, although each run's interval was a few per cent. Therefore
// a difference counts only if enough runs alternate between the two sides
// (docs/reference/timing.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

// Whether both runs were on the same GPU, by name and UUID. False for the simulated GPU.
bool on_one_gpu(const Passport& a, const Passport& b);

// Sentences about the durations and timing verdicts of a property that differ. Omits differences
// below a twentieth, or within the intervals of the medians.
std::vector<std::string> timing_changes(const PassportProperty& before,
                                        const PassportProperty& after);

struct TimingJudgement {
  std::string why_not;    // a sentence: why durations are only information; all else is then empty
  std::size_t pairs = 0;  // pairs of runs
  std::size_t same = 0, inconclusive = 0;   // numbers of durations
  std::vector<std::string> slower, faster;  // a sentence each
};

// Judges the durations of several runs of each side. All runs must be on one GPU and alternate: in
// the order of time, every two consecutive runs are one of each side. A duration is SLOWER or
// FASTER by the statistics of harness/timing/timing_verdict.h over these pairs, with a minimum
// effect of a twentieth, if both halves of the pairs show it.
TimingJudgement judge_timings(const std::vector<Passport>& before,
                              const std::vector<Passport>& after);

}  // namespace lockstep
