// What two passports, or several of each side, say of durations.
//
// Durations of one run each are information. The same program on the same GPU takes other times in
// another process: its memory lies elsewhere, the clock is another. On an H100 one timing of 24
// runs in a row lay between 16.9 and 22.2 us, each with an interval of a few per cent. So a
// difference counts when runs were made in turn, and enough of them (docs/reference/timing.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

// Whether two runs were on the very same GPU: its name and its UUID. The simulated GPU is none.
bool on_one_gpu(const Passport& a, const Passport& b);

// How the durations of a property differ, and the verdicts of comparisons: sentences. What differs
// by less than a twentieth, or within the intervals of the medians, is left out.
std::vector<std::string> timing_changes(const PassportProperty& before,
                                        const PassportProperty& after);

struct TimingJudgement {
  std::string
      why_not;  // a sentence: durations are information alone; then nothing else is filled in
  std::size_t pairs = 0;                    // of runs
  std::size_t same = 0, inconclusive = 0;   // durations
  std::vector<std::string> slower, faster;  // a sentence each
};

// Of runs of each side. They must be on one GPU and have been made in turn: in the order of time
// each two are one of either side. A duration is SLOWER or FASTER by the statistics of
// harness/timing/timing_verdict.h over these pairs, with a minimum effect of a twentieth, when both
// halves of the pairs show it.
TimingJudgement judge_timings(const std::vector<Passport>& before,
                              const std::vector<Passport>& after);

}  // namespace lockstep
